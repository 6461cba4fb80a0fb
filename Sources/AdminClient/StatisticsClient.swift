package import AdminServer
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
package import SightlineClient
internal import TerminalText

/// Reads `/stats.json` of the admin server.
package struct StatisticsClient {
    private let address: ServerAddress

    private static let timeout = TimeAmount.seconds(5)
    /// The longest history takes less than a tenth of this.
    private static let maxBytes = 8 << 20

    /// A client of the admin server at an address.
    package init(address: ServerAddress) { self.address = address }

    /// The document, raw and decoded.
    ///
    /// - Throws: `StatisticsError`.
    package func read() async throws -> (document: String, statistics: Statistics) {
        let body: ByteBuffer
        do {
            let answer = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: "http://\(self.address)/stats.json"), timeout: Self.timeout)
            guard answer.status == .ok else {
                throw StatisticsError(self.address, "it answers \(answer.status)")
            }
            body = try await answer.body.collect(upTo: Self.maxBytes)
        } catch let error as StatisticsError {
            throw error
        } catch let error as HTTPClientError {
            throw StatisticsError(self.address, error.shortDescription)
        } catch {
            throw StatisticsError(self.address, "\(error)")
        }
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return (
                String(buffer: body),
                try decoder.decode(Statistics.self, from: Data(body.readableBytesView))
            )
        } catch {
            throw StatisticsError(self.address, "its figures cannot be read: \(error)")
        }
    }
}

/// The statistics could not be read.
package struct StatisticsError: Error, CustomStringConvertible {
    private let address: ServerAddress
    private let reason: String

    init(_ address: ServerAddress, _ reason: String) {
        self.address = address
        self.reason = reason
    }

    /// What is wrong, and the fix.
    package var description: String {
        "no figures from http://\(self.address)/stats.json: \(self.reason.printable). Name the "
            + "admin server that `sightline serve` says it has, with --admin HOST:PORT"
    }
}
