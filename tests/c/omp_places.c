/* Prints the places of the OpenMP runtime, such as {0,1}, a line for each. */

#include <omp.h>
#include <stdio.h>

int main(void)
{
    for (int place = 0; place < omp_get_num_places(); place++) {
        int cpus[64];
        int count = omp_get_place_num_procs(place);
        if (count > 64)
            return 1;
        omp_get_place_proc_ids(place, cpus);
        for (int i = 0; i < count; i++)
            printf("%s%d", i == 0 ? "{" : ",", cpus[i]);
        puts("}");
    }
    return 0;
}
