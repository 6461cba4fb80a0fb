internal import Delivery
package import SinkKit

/// A sink whose backend is open, and what the server can do with that backend beside deliveries.
package struct OpenedSink: Sendable {
    /// The sink itself.
    package let sink: any Sink
    /// The backend as OpenTelemetry names databases (`db.system.name`); nil for any other backend.
    var database: String?
    /// Asks the backend's client library for its brokers; nil for a sink without one. The answer is
    /// nil until the library has said something.
    var brokers: (@Sendable () -> BrokerStatistics?)?
    /// The files of the backend; nil if it has none.
    var usage: DiskUsage?
    /// Opens what the backend keeps; nil if it cannot be read.
    var stored: Stored?

    /// Opens the hits that a backend has received since a time, in microseconds since 1970, from
    /// the journal with an id; gives their pages, and the journal's newest group among them.
    typealias Stored =
        @Sendable (_ journal: String, _ since: Int64) throws -> (
            pages: HitReplay.Pages, newestGroup: Int64
        )

    init(
        _ sink: any Sink, database: String? = nil,
        brokers: (@Sendable () -> BrokerStatistics?)? = nil, usage: DiskUsage? = nil,
        stored: Stored? = nil
    ) {
        self.sink = sink
        self.database = database
        self.brokers = brokers
        self.usage = usage
        self.stored = stored
    }
}
