/* A plugin that contains the library is opened and closed again and again. Each time a thread makes
 * a call that fails, and ends after the plugin is gone. With PLUGIN this is the plugin. */

#include <stdio.h>

#ifdef PLUGIN
#include <topobroker.h>

int fails(void)
{
    return tb_set_parse(NULL, "1") != TB_OK && tb_error_detail()[0] != '\0';
}
#else
#include <dlfcn.h>
#include <pthread.h>

#define TIMES 1500

static pthread_barrier_t called, closed;

static void *thread(void *fails)
{
    int (*call)(void);
    *(void **)&call = fails;
    void *failed = call() ? fails : NULL;
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&closed);
    return failed;
}

int main(int count, char **arguments)
{
    int well = 0;
    pthread_key_t key;

    (void)count;
    pthread_barrier_init(&called, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    for (int i = 0; i < TIMES; i++) {
        pthread_t other;
        void *failed, *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        pthread_create(&other, NULL, thread, dlsym(plugin, "fails"));
        pthread_barrier_wait(&called);
        dlclose(plugin);
        int gone = dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) == NULL;
        pthread_barrier_wait(&closed);
        pthread_join(other, &failed);
        well += failed != NULL && gone;
    }
    printf("%d of %d well, %s\n", well, TIMES, pthread_key_create(&key, NULL) == 0 ? "keys are left" : "no key is left");
    return 0;
}
#endif
