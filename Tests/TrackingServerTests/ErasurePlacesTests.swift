internal import Testing
@testable internal import TrackingServer

struct ErasurePlacesTests {
    /// The entries of a directory, and those that belong to no place.
    struct Row: Sendable {
        let names: [String]
        let unknown: [String]
    }

    @Test(
        "an entry is known by its name, and what SQLite keeps beside a database by the database's",
        arguments: [
            Row(names: [], unknown: []),
            Row(names: ["a.db", "a.db-wal", "a.db-shm", "a.db-journal"], unknown: []),
            Row(names: ["a.db-wal"], unknown: []),
            Row(names: ["b.db", "b.db-wal", "b.db-shm"], unknown: ["b.db"]),
            // Whose log it is cannot be told.
            Row(names: ["b.db-wal", "a.db"], unknown: ["b.db-wal"]),
            Row(
                names: ["a.db.bak", "z", "a.db", "3.damaged"],
                unknown: ["3.damaged", "a.db.bak", "z"]),
            Row(names: ["-wal"], unknown: ["-wal"]),
        ])
    func unknown(_ row: Row) {
        #expect(ErasurePlaces.unknown(row.names, known: ["a.db"]) == row.unknown)
    }
}
