package import AdminProtocol
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
package import SightlineClient

/// Reads `/stats.json` of the admin server.
package struct StatisticsClient {
    private let url: String

    private static let timeout = TimeAmount.seconds(5)
    /// The longest history takes less than a tenth of this.
    private static let maxBytes = 8 << 20

    /// A client of the admin server at an address.
    package init(address: ServerAddress) { self.url = "http://\(address)/stats.json" }

    /// The document, raw and decoded.
    ///
    /// - Throws: `AdminServerError`.
    package func read() async throws -> (document: String, statistics: Statistics) {
        let body: ByteBuffer
        do {
            let answer = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: self.url), timeout: Self.timeout)
            guard answer.status == .ok else {
                throw AdminServerError(self.url, "it answers \(answer.status)")
            }
            body = try await answer.body.collect(upTo: Self.maxBytes)
        } catch let error as AdminServerError {
            throw error
        } catch let error as HTTPClientError {
            throw AdminServerError(self.url, error.shortDescription)
        } catch {
            throw AdminServerError(self.url, "\(error)")
        }
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return (
                String(buffer: body),
                try decoder.decode(Statistics.self, from: Data(body.readableBytesView))
            )
        } catch {
            throw AdminServerError(self.url, "its figures cannot be read: \(error)")
        }
    }
}
