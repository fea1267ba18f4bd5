/* Loads plug-ins for everybody to see and prints, for each, which file the entry is in that it calls. The first argument:
   whether they compute here, 0 or 1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *home(void *library, const char *name)
{
    void *found = dlsym(library, name);
    void *(*where)(void);
    Dl_info info;
    memcpy(&where, &found, sizeof where);
    if (!found || !dladdr(where(), &info))
        return "nowhere";
    return strrchr(info.dli_fname, '/') + 1;
}

static int wrong(void *library)
{
    void *found = dlsym(library, "plugin_wrong");
    int (*call)(void);
    memcpy(&call, &found, sizeof call);
    return call();
}

int main(int count, char **given)
{
    void *loaded[8];
    int k;
    for (k = 2; k < count; ++k)
        if (!(loaded[k] = dlopen(given[k], RTLD_NOW | RTLD_GLOBAL)) || !dlsym(loaded[k], "plugin_wrong"))
            return fprintf(stderr, "%s\n", dlerror()), 1;
    for (k = 2; k < count; ++k) {
        printf("%s %s", home(loaded[k], "plugin_entry"), home(loaded[k], "plugin_table"));
        printf(" %d\n", *given[1] == '1' ? wrong(loaded[k]) : 0);
    }
    return 0;
}
