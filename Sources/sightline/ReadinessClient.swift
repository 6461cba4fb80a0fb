// Asks a server's admin port whether the server takes events.
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import TrackingClient

/// Reads `/readyz`. It is plain HTTP on loopback also where the gRPC port speaks TLS and asks for
/// credentials, so a probe beside the server needs neither.
struct ReadinessClient {
    /// Where the admin server is.
    let address: ServerAddress

    /// Whether it is ready.
    ///
    /// - Throws: `ReadinessError` where that cannot be asked.
    func isReady(within timeout: Duration) async throws(ReadinessError) -> Bool {
        let status: HTTPResponseStatus
        do {
            let request = HTTPClientRequest(url: "http://\(self.address)/readyz")
            status = try await HTTPClient.shared.execute(
                request, timeout: TimeAmount(timeout)
            ).status
        } catch let error as HTTPClientError {
            throw ReadinessError(self.address, error.shortDescription)
        } catch {
            throw ReadinessError(self.address, "\(error)")
        }
        switch status {
        case .ok: return true
        case .serviceUnavailable: return false
        default: throw ReadinessError(self.address, "it answers \(status)")
        }
    }
}

/// Why it cannot be told whether a server is ready.
struct ReadinessError: Error, CustomStringConvertible {
    private let address: ServerAddress
    private let reason: String

    init(_ address: ServerAddress, _ reason: String) {
        self.address = address
        self.reason = reason
    }

    var description: String {
        "no answer from http://\(self.address)/readyz: \(self.reason.printable). Name the admin "
            + "server that `sightline serve` says it has, with --admin HOST:PORT"
    }
}
