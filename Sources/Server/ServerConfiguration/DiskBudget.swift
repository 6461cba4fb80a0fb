internal import Operations
internal import SinkKit
internal import TrackingJournal

/// What the files of a data directory may grow to, by the limits of its configuration.
package struct DiskBudget: Sendable {
    /// Each limit with its key, or with its sink's name; what has no limit is not among them.
    package let limits: [(name: String, bytes: Int)]

    /// The budget of a server.
    package init(_ configuration: ServerConfiguration) {
        var limits: [(name: String, bytes: Int)] = []
        if configuration.journal.mode == .disk {
            limits.append(("journal.max_bytes", configuration.journal.maxBytes))
        }
        if configuration.quarantine.isOn {
            limits.append(("quarantine.max_bytes", configuration.quarantine.maxBytes))
        }
        for sink in configuration.sinks {
            let own = sink.configuration(in: configuration)
            guard let bytes = sink.kind.row.maxDiskBytes(own) else { continue }
            limits.append(("the sink \(sink.name)", bytes))
        }
        self.limits = limits
    }

    /// All of them together. The largest values of all keys fit into an `Int`.
    package var bytes: Int { self.limits.reduce(0) { $0 + $1.bytes } }

    /// Whether files of so many bytes find room.
    package func fits(into room: Int) -> Bool { self.bytes <= room }
}
