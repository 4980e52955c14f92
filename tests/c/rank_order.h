/* Writes what the ranks say in the order of ranks. The first one writes all, because a launcher
 * mixes what several ranks write, even within lines. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Called by all ranks, with texts that fit into `length` bytes. The first rank's text is
 * overwritten. */
static void write_in_rank_order(char *text, int length) {
    int own, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (own) {
        MPI_Send(text, (int)strlen(text) + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        return;
    }
    fputs(text, stdout);
    for (int rank = 1; rank < size; rank++) {
        MPI_Recv(text, length, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fputs(text, stdout);
    }
}
