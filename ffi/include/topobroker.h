/* topobroker: the hwloc topology of a node, once in shared memory, adopted by every process.
 *
 * libtopobroker has all that is declared here; libtopobroker-reader has all but launcher.h.
 *
 * - Most functions return a tb_status, which is 0 or negative; tb_error_detail() returns a message
 *   for the last failure. A function that fails stores nothing, unless its documentation says
 *   otherwise.
 * - A pointer must not be NULL unless the documentation of the function says that it may be. An
 *   array of 0 elements and a buffer of 0 bytes may be NULL. Any other NULL, and a number that no
 *   object has, is TB_ERR_ARGUMENT.
 * - The size of a struct follows it: tb_obj_get(topology, obj, &data, sizeof data). So a program and
 *   a library of different versions go together. Of a struct that is filled, what an older library
 *   does not know becomes 0. Of a struct that is read, what an older program does not know is 0, and
 *   what an older library does not know must be 0. A struct within a struct never grows.
 * - If an array is too short and `count` is NULL, the function fills the array and returns
 *   TB_ERR_TRUNCATED. If `count` is not NULL, it returns TB_OK.
 * - A text that a function stores as `const char *` is valid as long as the handle that it comes
 *   from: for the adopted topology, for the life of the process.
 * - What is stored in a `tb_x **` belongs to the caller, who frees it with tb_x_free. What is stored
 *   in a `const tb_x **` stays for the life of the process.
 * - Any thread may call any function. While one thread changes or frees a handle, no other thread
 *   may use it.
 * - A signal handler may call only tb_strerror, tb_version and, if it was called before,
 *   tb_adopted, because other functions allocate memory. If a handler interrupts an adoption and
 *   adopts too, it gets TB_ERR_BUSY. */
#ifndef TOPOBROKER_H
#define TOPOBROKER_H

#include <topobroker/status.h>
#include <topobroker/sets.h>
#include <topobroker/core.h>
#include <topobroker/jobs.h>
#include <topobroker/devices.h>
#include <topobroker/cluster.h>
#include <topobroker/launcher.h>

#endif
