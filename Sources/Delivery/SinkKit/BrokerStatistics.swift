/// What a sink's client library tells of its brokers, for the metrics.
package struct BrokerStatistics: Sendable, Equatable {
    /// Hits in the library's queue, those in flight included.
    package var queuedHits = 0
    /// Requests that the library has sent again, since it last began anew.
    package var retries = 0
    /// Requests that a broker did not answer in time, since it last began anew.
    package var timeouts = 0
    /// The mean time of an answer, at the slowest broker; 0 if there was none lately.
    package var roundTripSeconds = 0.0
    /// Brokers that are connected.
    package var connectedBrokers = 0

    /// Statistics without any broker.
    package init() {}
}
