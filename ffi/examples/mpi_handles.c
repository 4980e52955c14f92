/* The functions of topobroker_mpi.h for languages other than C, by Fortran's handles: compile it
 * with the MPI compiler that the program uses. mpi_groups.f90 and mpi_groups.py call it. */

#include <mpi.h>
#include <topobroker_mpi.h>

/* The job of this process; NULL if it has none. */
static tb_job *job_of_process(void)
{
    static tb_job *job;
    const tb_topology *topology;

    if (!job && tb_adopt(&topology) == TB_OK)
        (void)tb_job_adopt(topology, NULL, &job);
    return job;
}

/* Splits a communicator by a hardware resource. Returns an error class of MPI. */
int tb_example_guided(MPI_Fint comm, const char *uri, int key, MPI_Fint *newcomm);
int tb_example_guided(MPI_Fint comm, const char *uri, int key, MPI_Fint *newcomm)
{
    MPI_Comm made;
    int error = tb_mpi_comm_guided(MPI_Comm_f2c(comm), job_of_process(), uri, key, &made);

    *newcomm = MPI_Comm_c2f(made);
    return error;
}

/* Splits a communicator by the outermost resource of which not all are on the same instance. */
int tb_example_unguided(MPI_Fint comm, int key, MPI_Fint *newcomm);
int tb_example_unguided(MPI_Fint comm, int key, MPI_Fint *newcomm)
{
    MPI_Comm made;
    int error =
        tb_mpi_comm_unguided(MPI_Comm_f2c(comm), job_of_process(), key, MPI_INFO_NULL, &made);

    *newcomm = MPI_Comm_c2f(made);
    return error;
}
