// The floor of the sqlite sink: a bare loop that inserts as many rows with the columns of a hit and
// no index, in transactions of a given size. Prints rows per second.
//
//   insert FILE ROWS ROWS_PER_TRANSACTION schema.sql
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(sqlite3 *db, int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static uint64_t mix(uint64_t *state) { // SplitMix64: ids as random as a hash
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) { perror(path); exit(1); }
    char *text = calloc(1, 1 << 16);
    if (!text || fread(text, 1, (1 << 16) - 1, file) == 0) { perror(path); exit(1); }
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "insert FILE ROWS ROWS_PER_TRANSACTION SCHEMA\n"); return 64; }
    long rows = atol(argv[2]), per_transaction = atol(argv[3]);
    sqlite3 *db;
    check(db, sqlite3_open(argv[1], &db), "open");
    check(db, sqlite3_exec(db, read_file(argv[4]), NULL, NULL, NULL), "schema");
    sqlite3_stmt *statement;
    check(db, sqlite3_prepare_v2(db,
        "INSERT INTO hits VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        -1, &statement, NULL), "prepare");
    unsigned char event[270];
    memset(event, 'e', sizeof event);
    uint64_t state = 1, hit[2] = {0, 0};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long row = 0; row < rows; row++) {
        if (row % per_transaction == 0) {
            check(db, sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), "begin");
        }
        if (row % 2 == 0) { hit[0] = mix(&state); hit[1] = mix(&state) << 8; }
        ((unsigned char *)hit)[15] = row % 2 ? 3 : 2; // an opened notification: a click, an open
        char broadlog[16];
        int length = snprintf(broadlog, sizeof broadlog, "h%010lx", row / 2);
        sqlite3_bind_blob(statement, 1, hit, 16, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, row % 2 ? "open" : "click", -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 3, row % 2 ? 1 : 2);
        sqlite3_bind_text(statement, 4, "56c4d7", 6, SQLITE_STATIC);
        sqlite3_bind_text(statement, 5, broadlog, length, SQLITE_STATIC);
        sqlite3_bind_text(statement, 6, "com.example.app", 15, SQLITE_STATIC);
        sqlite3_bind_text(statement, 7, "ios", 3, SQLITE_STATIC);
        sqlite3_bind_text(statement, 8, "12345678901234567890", 20, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 9, 1700000000000000 + row);
        sqlite3_bind_int64(statement, 10, 1700000000500000 + row);
        sqlite3_bind_text(statement, 11, "default", 7, SQLITE_STATIC);
        sqlite3_bind_text(statement, 12, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          55, SQLITE_STATIC);
        sqlite3_bind_null(statement, 13);
        sqlite3_bind_text(statement, 14, "", 0, SQLITE_STATIC);
        sqlite3_bind_blob(statement, 15, event, sizeof event, SQLITE_STATIC);
        check(db, sqlite3_step(statement), "insert");
        sqlite3_reset(statement);
        if (row % per_transaction == per_transaction - 1 || row == rows - 1) {
            check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), "commit");
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9;
    printf("%.0f rows/s, %ld rows in %.2f s\n", rows / seconds, rows, seconds);
    sqlite3_finalize(statement);
    return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
}
