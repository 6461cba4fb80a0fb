internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import SightlineClient
internal import TerminalText

/// Reads `/readyz` of the admin server. It is plain HTTP on loopback, so that a local probe needs
/// neither TLS nor credentials.
package struct ReadinessClient {
    private let address: ServerAddress

    /// A client of the admin server at an address.
    package init(address: ServerAddress) { self.address = address }

    /// Whether the server accepts events.
    ///
    /// - Throws: `ReadinessError` if there is no answer.
    package func isReady(within timeout: Duration) async throws(ReadinessError) -> Bool {
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
package struct ReadinessError: Error, CustomStringConvertible {
    private let address: ServerAddress
    private let reason: String

    init(_ address: ServerAddress, _ reason: String) {
        self.address = address
        self.reason = reason
    }

    /// What is wrong, and the fix.
    package var description: String {
        "no answer from http://\(self.address)/readyz: \(self.reason.printable). Name the admin "
            + "server that `sightline serve` says it has, with --admin HOST:PORT"
    }
}
