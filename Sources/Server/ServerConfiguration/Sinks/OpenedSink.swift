package import Delivery
package import SinkKit

/// A sink whose backend is open, and what the server can do with that backend beside deliveries.
package struct OpenedSink: Sendable {
    /// The sink itself.
    package let sink: any Sink
    /// The backend as OpenTelemetry names databases (`db.system.name`); nil for any other backend.
    package let database: String?
    /// Asks the backend's client library for its brokers; nil for a sink without one. The answer is
    /// nil until the library has said something.
    package let brokers: (@Sendable () -> BrokerStatistics?)?
    /// The files of the backend, and directories of files.
    package let files: [String]
    /// Opens what the backend keeps; nil if it cannot be read.
    package let stored: Stored?

    /// Opens the hits that a backend has received since a time, in microseconds since 1970, from
    /// the journal with an id; gives their pages, and the journal's newest group among them.
    package typealias Stored =
        @Sendable (_ journal: String, _ since: Int64) throws -> (
            pages: HitReplay.Pages, newestGroup: Int64
        )

    /// A sink and its backend.
    package init(
        _ sink: any Sink, database: String? = nil,
        brokers: (@Sendable () -> BrokerStatistics?)? = nil, files: [String] = [],
        stored: Stored? = nil
    ) {
        self.sink = sink
        self.database = database
        self.brokers = brokers
        self.files = files
        self.stored = stored
    }
}
