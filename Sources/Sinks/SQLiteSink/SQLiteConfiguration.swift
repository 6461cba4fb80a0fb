package import ConfigurationKeys
internal import SinkKit
internal import Storage

/// The settings `sqlite.*`: how long hits are kept, and the limits of file and memory.
package struct SQLiteConfiguration: SinkConfiguration {
    /// The days within which a repeated hit counts once.
    package var uniqueDays = 30
    /// The days after which hits are deleted; 0 keeps them for ever.
    package var retainDays = 90
    /// The size of hits.db above which the oldest hits are deleted; 0 for no limit.
    package var maxBytes = 64 << 30
    /// The maximum memory for the index's Bloom filters.
    package var filterBytes = 256 << 20

    /// The group that may read hits.db besides the server's user; empty for none.
    package var group = ""

    /// Creates the default settings.
    package init() {}

    /// The size of hits.db.
    package var maxDiskBytes: Int? { self.maxBytes > 0 ? self.maxBytes : nil }

    /// The keys `sqlite.*`.
    package static let keys: [Key] = [
        .number(
            "sqlite.unique_days", \.uniqueDays, 1...3650,
            "days within which a fact that comes again counts once", unit: "days"),
        .number(
            "sqlite.retain_days", \.retainDays, 0...36_500,
            "days after which hits are deleted, by the day of receipt; 0 for never", unit: "days"),
        .number(
            "sqlite.max_bytes", \.maxBytes, 0...(1 << 50),
            "bytes of hits.db from which on the oldest hits are deleted; 0 for no limit"),
        .number(
            "sqlite.filter_bytes", \.filterBytes, 0...(1 << 40),
            "bytes of memory for filters of counted facts, 1.5 each; others cost a page read"),
        .text(
            "sqlite.group", \.group,
            "a group of the machine that may read hits.db while the server runs; empty for none",
            unit: "name"),
    ]

    /// Finds a group that cannot get the file.
    package func checkFiles(_ problems: inout ConfigurationProblems<Self>) {
        guard !self.group.isEmpty else { return }
        guard let group = UserGroup(named: self.group) else {
            problems.refuse(
                \.group,
                "has to be a group of this machine: create it by groupadd, or leave it empty")
            return
        }
        if !group.mayGetFiles {
            problems.refuse(
                \.group,
                "has to be a group of the server's user: add the user by usermod -aG, or with "
                    + "SupplementaryGroups= in systemd's unit, or leave it empty")
        }
    }
}
