internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import TerminalText

/// Asks a running server through the Unix socket in its data directory.
struct AdminSocketClient {
    private let path: String

    /// Replays take as long as there are hits.
    private static let timeout = TimeAmount.hours(24)
    /// The longest history takes less than a tenth of this.
    private static let maxBytes = 8 << 20

    /// The socket of a data directory; nil if there is none.
    init?(dataDirectory: String) {
        self.path = URL(filePath: dataDirectory, directoryHint: .isDirectory)
            .appending(path: "admin.sock", directoryHint: .notDirectory)
            .path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: self.path) else { return nil }
    }

    /// Reads, and decodes the answer.
    ///
    /// - Throws: `AdminSocketError`.
    func get<Answer: Decodable>(
        _ uri: String, as type: Answer.Type
    ) async throws -> Answer {
        try await self.decode(.GET, uri, as: type)
    }

    /// Has something done, and decodes the answer.
    ///
    /// - Throws: `AdminSocketError`.
    func post<Answer: Decodable>(
        _ uri: String, as type: Answer.Type
    ) async throws -> Answer {
        try await self.decode(.POST, uri, as: type)
    }

    private func decode<Answer: Decodable>(
        _ method: HTTPMethod, _ uri: String, as type: Answer.Type
    ) async throws -> Answer {
        let (status, body): (HTTPResponseStatus, Data)
        do {
            (status, body) = try await self.answer(method, uri)
        } catch let error as HTTPClientError {
            throw AdminSocketError.unreachable(self.path, error.shortDescription)
        } catch {
            throw AdminSocketError.unreachable(self.path, "\(error)")
        }
        guard status == .ok else {
            throw AdminSocketError.refused(String(decoding: body, as: UTF8.self))
        }
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(Answer.self, from: body)
        } catch {
            throw AdminSocketError.unreachable(self.path, "its answer cannot be read: \(error)")
        }
    }

    private func answer(
        _ method: HTTPMethod, _ uri: String
    ) async throws -> (HTTPResponseStatus, Data) {
        guard let url = URL(httpURLWithSocketPath: self.path, uri: uri) else {
            throw AdminSocketError.unreachable(self.path, "\(uri) is no path")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method
        var configuration = HTTPClient.Configuration()
        // A socket that nobody listens on was left by a process that is gone.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration
        ) { client in
            let answer = try await client.execute(request, timeout: Self.timeout)
            let body = try await answer.body.collect(upTo: Self.maxBytes)
            return (answer.status, Data(body.readableBytesView))
        }
    }
}

/// The server did not do what was asked.
enum AdminSocketError: Error, CustomStringConvertible {
    /// Nobody answers.
    case unreachable(String, String)
    /// The server's reason.
    case refused(String)

    /// No socket in a data directory.
    static func missing(_ dataDirectory: String) -> Self {
        .unreachable(dataDirectory + "/admin.sock", "there is no such file")
    }

    var description: String {
        switch self {
        case .refused(let reason): reason.printable
        case .unreachable(let path, let reason):
            "no server answers on \(path.printable): \(reason.printable). Name the data directory "
                + "of a running server with --data-dir, as the server's own user"
        }
    }
}
