/// What a request came to, for metrics.
package struct DoorTally: Sendable {
    /// Who answered it.
    package var door: Door
    /// The status of the answer; nil if the client went away before it.
    package var status: Int?
    /// The bytes of the request's body, as sent.
    package var receivedBytes: Int
    /// The bytes of the answer's body.
    package var sentBytes: Int
    /// The time from the header fields until the answer was written.
    package var nanoseconds: Int64

    /// The names of classes of statuses, as metrics have them.
    package static let statusClasses = ["2xx", "3xx", "4xx", "5xx", "gone"]

    /// The class of its status.
    package var statusClass: String {
        guard let status else { return "gone" }
        return "\(status / 100)xx"
    }
}
