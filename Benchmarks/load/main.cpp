// Sends new tracking events to a server, and measures how it does.
#include "load.h"

int main(int count, char **arguments) {
    Load load(parseOptions(count, arguments));
    return load.run();
}
