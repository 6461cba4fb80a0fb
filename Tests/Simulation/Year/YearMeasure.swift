// What a year takes on disk and in memory, measured at the end of each process.
internal import CMalloc
internal import Foundation
internal import GRDB
internal import Glibc

/// The sizes at one time.
struct YearMeasure: Sendable {
    /// The days since the year began.
    let day: Int
    /// How long the process took to open all its files; 0 where others run beside it.
    let start: Duration
    /// What the process has allocated; 0 where others run in it.
    let memoryBytes: Int
    /// The number of files in the data directory.
    let fileCount: Int
    /// By file; all segments of the journal are one.
    let bytes: [String: Int]
    /// By file and table; all tables of hits are one.
    let rows: [String: Int]

    static let segments = "journal/segments"
    static let hits = "hits.db hits"
    static let counts = "hits.db counts"
    static let letters = "dead_letters.db dead_letters"
    private static let databases = [
        "hits.db", "dead_letters.db", "quarantine.db", "forgotten.db", "deliveries.db",
    ]

    init(
        day: Int, start: Duration, memoryBytes: Int, fileCount: Int, bytes: [String: Int],
        rows: [String: Int]
    ) {
        self.day = day
        self.start = start
        self.memoryBytes = memoryBytes
        self.fileCount = fileCount
        self.bytes = bytes
        self.rows = rows
    }

    /// Measures what is there now.
    ///
    /// - Parameter isAlone: whether the process is the year's own.
    init(_ directory: String, day: Int, start: Duration, isAlone: Bool) throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
        try self.init(
            day: day, start: isAlone ? start : .zero,
            memoryBytes: isAlone ? Self.allocatedBytes() : 0, fileCount: files.count,
            bytes: files.reduce(into: [:]) { bytes, name in
                let key = name.hasPrefix("journal/segment-") ? Self.segments : name
                bytes[key, default: 0] += Self.size(of: directory + "/" + name)
            },
            rows: Self.databases.reduce(into: [:]) { rows, name in
                for (table, count) in try Self.rows(of: directory + "/" + name) {
                    rows["\(name) \(table)", default: 0] += count
                }
            })
    }

    /// The bytes of a file; 0 if it has gone meanwhile, as segments do.
    private static func size(of path: String) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    private static func rows(of path: String) throws -> [(table: String, count: Int)] {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { database in
            let tables = try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master
                    WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name
                    """)
            return try tables.map { table in
                let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
                return (table.hasPrefix("hits_") ? "hits" : table, count)
            }
        }
    }

    /// What is allocated. Resident is more: each start within this process has threads of its own,
    /// and malloc keeps the arenas of those that have ended.
    private static func allocatedBytes() -> Int {
        let heap = mallinfo2()
        return Int(heap.uordblks) + Int(heap.hblkhd)
    }

    // MARK: The table

    /// The columns of the table and their widths.
    private static let columns = [
        ("day", 5), ("hits", 10), ("counts", 9), ("quarantine", 12), ("letters", 9),
        ("hits.db MB", 12), ("journal MB", 12), ("files", 7), ("memory MB", 11), ("start ms", 10),
    ]

    static var heading: String {
        Self.columns.map { Self.padded($0.0, to: $0.1) }.joined()
    }

    /// A line of the table.
    var line: String {
        let journal = self.bytes.filter { $0.key.hasPrefix("journal/") }.values.reduce(0, +)
        let figures: [Int] = [
            self.day, self.rows[Self.hits] ?? 0, self.rows[Self.counts] ?? 0,
            self.rows["quarantine.db events"] ?? 0, self.rows[Self.letters] ?? 0,
            (self.bytes["hits.db"] ?? 0) >> 20, journal >> 20, self.fileCount,
            self.memoryBytes >> 20, Int(self.start / .milliseconds(1)),
        ]
        return zip(figures, Self.columns).map { Self.padded(String($0), to: $1.1) }.joined()
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }

    // MARK: Growth

    /// What may be added to a size without being growth: pages that are not used again yet, the
    /// names of a few hundred deliveries, a pause of the machine.
    private static let (spareBytes, spareRows, spareMemory, spareFiles) = (
        4 << 20, 1000, 48 << 20, 4
    )
    private static let spareMilliseconds = 500

    /// A size, and what it may be later in the year: a quarter more, for the days and deliveries
    /// are not all alike.
    private struct Size {
        let what: String
        let now: Int
        let bound: Int

        init(_ what: String, _ now: Int, spare: Int) {
            self.what = what
            self.now = now
            self.bound = now + now / 4 + spare
        }
    }

    private var sizes: [Size] {
        var sizes = [
            Size("files", self.fileCount, spare: Self.spareFiles),
            Size("bytes of memory", self.memoryBytes, spare: Self.spareMemory),
            Size(
                "milliseconds to start", Int(self.start / .milliseconds(1)),
                spare: Self.spareMilliseconds),
        ]
        // A write-ahead log begins anew at a length of its own: 256 MiB for hits.db.
        for (name, bytes) in self.bytes where !name.hasSuffix("-wal") && !name.hasSuffix("-shm") {
            sizes.append(Size("bytes of \(name)", bytes, spare: Self.spareBytes))
        }
        // Some counts stay of each delivery: `Year.checkBounds` says how many.
        for (name, rows) in self.rows where name != Self.counts {
            sizes.append(Size("rows of \(name)", rows, spare: Self.spareRows))
        }
        return sizes
    }

    /// The largest sizes of several times.
    private static func largest(_ measures: some Sequence<YearMeasure>) -> [String: (Int, Int)] {
        measures.flatMap(\.sizes).reduce(into: [:]) { largest, size in
            let known = largest[size.what] ?? (0, 0)
            largest[size.what] = (max(known.0, size.now), max(known.1, size.bound))
        }
    }

    /// Compares what there was before the middle of a year with its end.
    ///
    /// - Throws: `Violation` with all that has grown.
    static func checkGrowth(_ measures: [YearMeasure], of days: Int) throws {
        let middle = Self.largest(measures.filter { $0.day >= days * 3 / 8 && $0.day < days / 2 })
        let end = Self.largest(measures.filter { $0.day >= days * 7 / 8 })
        let grown = end.compactMap { what, sizes -> String? in
            let (before, bound) = middle[what] ?? (0, Self.spareBytes)
            guard sizes.0 > bound else { return nil }
            return "\(what): \(before) before day \(days / 2), \(sizes.0) at the end"
        }
        guard !middle.isEmpty, !end.isEmpty else {
            throw Violation("a year of \(days) days is too short to be compared with itself")
        }
        guard grown.isEmpty else {
            throw Violation("it grows: " + grown.sorted().joined(separator: "; "))
        }
    }
}
