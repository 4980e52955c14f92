/* Publishes, prints the name of the file, and ends without freeing anything. A forked child ends
 * before it. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

int main(void)
{
    tb_publish_options options;
    tb_description *machine;
    tb_publication *published;
    tb_keys keys;

    tb_publish_options_init(&options, sizeof options);
    options.legacy = true;
    if (tb_description_from_synthetic("Core:2 PU:2", &machine) != TB_OK || tb_publish(machine, &options, sizeof options, &published) != TB_OK ||
        tb_publication_keys(published, &keys, sizeof keys) != TB_OK)
        return 1;
    puts(keys.file);
    fflush(stdout);
    if (fork() == 0)
        exit(0);
    wait(NULL);
    return access(keys.file, F_OK) == 0 ? 0 : 2;
}
