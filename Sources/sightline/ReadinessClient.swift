internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import SightlineClient
internal import TerminalText

/// Reads `/readyz` of the admin server. It is plain HTTP on loopback, so that a local probe needs
/// neither TLS nor credentials.
struct ReadinessClient {
    /// The address of the admin server.
    let address: ServerAddress

    /// Whether the server accepts events.
    ///
    /// - Throws: `ReadinessError` if there is no answer.
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

/// The admin server did not answer.
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
