/* Adopts in children that a timer interrupts. The timer's handler adopts too. The interrupted
 * adoption must succeed, the handler's may be refused, and nothing may hang. */

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <topobroker.h>
#include <unistd.h>

#define CHILDREN 1500

static volatile sig_atomic_t inside = 1;

static void handler(int number)
{
    const tb_topology *topology;
    (void)number;
    inside = (sig_atomic_t)tb_adopt(&topology);
}

int main(void)
{
    int refused = 0, wrong = 0;

    signal(SIGALRM, handler);
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            const tb_topology *topology;
            struct itimerval soon = { .it_value = { .tv_usec = 1 + i % 60 } };
            setitimer(ITIMER_REAL, &soon, NULL);
            tb_status own = tb_adopt(&topology);
            /* The handler may run before, during or after this adoption. */
            _exit(own != TB_OK ? 1 : inside == TB_ERR_BUSY ? 2 : 0);
        }
        /* A child that hangs is killed and counted as wrong. */
        for (int waited = 0; waitpid(pid, &status, WNOHANG) == 0; waited++) {
            usleep(100);
            if (waited == 100000)
                kill(pid, SIGKILL);
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
            wrong++;
        else if (WEXITSTATUS(status) == 2)
            refused++;
    }
    printf("%d wrong, %s\n", wrong, refused > 0 ? "some refused" : "none refused");
    return 0;
}
