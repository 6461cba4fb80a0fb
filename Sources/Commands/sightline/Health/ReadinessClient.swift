internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
package import SightlineClient

/// Reads `/readyz` of the admin server. It is plain HTTP on loopback, so that a local probe needs
/// neither TLS nor credentials.
package struct ReadinessClient {
    private let url: String

    /// A client of the admin server at an address.
    package init(address: ServerAddress) { self.url = "http://\(address)/readyz" }

    /// Whether the server accepts events.
    ///
    /// - Throws: `AdminServerError` if there is no answer.
    package func isReady(within timeout: Duration) async throws(AdminServerError) -> Bool {
        let status: HTTPResponseStatus
        do {
            let request = HTTPClientRequest(url: self.url)
            status = try await HTTPClient.shared.execute(
                request, timeout: TimeAmount(timeout)
            ).status
        } catch let error as HTTPClientError {
            throw AdminServerError(self.url, error.shortDescription)
        } catch {
            throw AdminServerError(self.url, "\(error)")
        }
        switch status {
        case .ok: return true
        case .serviceUnavailable: return false
        default: throw AdminServerError(self.url, "it answers \(status)")
        }
    }
}
