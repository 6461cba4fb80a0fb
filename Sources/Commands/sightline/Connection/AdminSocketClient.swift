internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import TrackingReport
internal import WireFormat

/// Calls a running server through the Unix socket in its data directory.
package struct AdminSocketClient {
    private let path: String

    /// A replay takes longer the more hits there are.
    private static let timeout = TimeAmount.hours(24)
    /// The longest history takes less than a tenth of this.
    private static let maxBytes = 8 << 20

    /// The socket at a path.
    package init(path: String) { self.path = path }

    /// The socket of a data directory; nil if there is none.
    package init?(dataDirectory: String) {
        self.path = URL(filePath: dataDirectory, directoryHint: .isDirectory)
            .appending(path: "admin.sock", directoryHint: .notDirectory)
            .path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: self.path) else { return nil }
    }

    /// The socket of a data directory.
    ///
    /// - Throws: `AdminSocketError` if there is none.
    package init(of dataDirectory: String) throws(AdminSocketError) {
        guard let client = Self(dataDirectory: dataDirectory) else {
            throw .missing(dataDirectory)
        }
        self = client
    }

    /// Sends a GET and decodes the answer.
    ///
    /// - Parameter query: parameters; those without a value are left out.
    /// - Throws: `AdminSocketError`.
    package func get<Answer: Decodable>(
        _ path: String, _ query: [(name: String, value: String?)] = [], as type: Answer.Type
    ) async throws -> Answer {
        try await self.decode(.GET, Self.uri(path, query), as: type)
    }

    /// Sends a POST and decodes the answer.
    ///
    /// - Parameter query: parameters; those without a value are left out.
    /// - Throws: `AdminSocketError`.
    package func post<Answer: Decodable>(
        _ path: String, _ query: [(name: String, value: String?)] = [], as type: Answer.Type
    ) async throws -> Answer {
        try await self.decode(.POST, Self.uri(path, query), as: type)
    }

    /// A path with its query, in which all but letters and digits are percent-encoded.
    static func uri(_ path: String, _ query: [(name: String, value: String?)]) -> String {
        let parameters = query.compactMap { name, value in
            value.map { value in
                let escaped = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
                return "\(name)=\(escaped ?? value)"
            }
        }
        return parameters.isEmpty ? path : path + "?" + parameters.joined(separator: "&")
    }

    /// Reads an endless answer, and calls `show` with each line.
    ///
    /// - Throws: `AdminSocketError`, or an error of `show`.
    package func lines(
        of path: String, _ query: [(name: String, value: String?)],
        _ show: @escaping @Sendable (String) throws -> Void
    ) async throws {
        do {
            try await self.execute(.GET, Self.uri(path, query), deadline: .distantFuture) {
                answer in
                guard answer.status == .ok else {
                    let reason = try await answer.body.collect(upTo: Self.maxBytes)
                    throw AdminSocketError.refused(String(buffer: reason))
                }
                var rest = ByteBuffer()
                for try await part in answer.body {
                    rest.writeImmutableBuffer(part)
                    guard rest.readableBytes <= Self.maxBytes else {
                        throw AdminSocketError.unusable(self.path, "a line has no end")
                    }
                    while let line = rest.readLine() { try show(line) }
                    rest.discardReadBytes()
                }
            }
        } catch let error as AdminSocketError {
            throw error
        } catch let error as HTTPClientError {
            throw AdminSocketError.unreachable(self.path, error.shortDescription)
        } catch {
            throw AdminSocketError.unreachable(self.path, "\(error)")
        }
    }

    private func decode<Answer: Decodable>(
        _ method: HTTPMethod, _ uri: String, as type: Answer.Type
    ) async throws -> Answer {
        let (status, body): (HTTPResponseStatus, Data)
        do {
            (status, body) = try await self.answer(method, uri)
        } catch is NIOTooManyBytesError {
            throw AdminSocketError.unusable(
                self.path, "it has over \(Self.maxBytes) bytes: ask for less, as by --tenant")
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
            throw AdminSocketError.unusable(self.path, "it cannot be read: \(error)")
        }
    }

    private func answer(
        _ method: HTTPMethod, _ uri: String
    ) async throws -> (HTTPResponseStatus, Data) {
        try await self.execute(method, uri, deadline: .now() + Self.timeout) { answer in
            let body = try await answer.body.collect(upTo: Self.maxBytes)
            return (answer.status, Data(body.readableBytesView))
        }
    }

    private func execute<Answer: Sendable>(
        _ method: HTTPMethod, _ uri: String, deadline: NIODeadline,
        _ read: @Sendable (HTTPClientResponse) async throws -> Answer
    ) async throws -> Answer {
        guard let url = URL(httpURLWithSocketPath: self.path, uri: uri) else {
            throw AdminSocketError.unreachable(self.path, "\(uri) is no path")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = method
        var configuration = HTTPClient.Configuration()
        // Without retries: a process that was killed leaves its socket, and nothing will listen on
        // it.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration
        ) { client in
            try await read(try await client.execute(request, deadline: deadline))
        }
    }
}

extension ByteBuffer {
    /// The next line without its end; nil if it is incomplete.
    fileprivate mutating func readLine() -> String? {
        guard let end = self.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        let line = self.readString(length: end - self.readerIndex)
        self.moveReaderIndex(forwardBy: 1)
        return line
    }
}

/// The server did not do what the command asked.
package enum AdminSocketError: Error, CustomStringConvertible {
    /// Nothing answers on the socket.
    case unreachable(String, String)
    /// The server answers, but its answer is unusable.
    case unusable(String, String)
    /// The server's reason.
    case refused(String)

    /// The error of a data directory without a socket.
    package static func missing(_ dataDirectory: String) -> Self {
        .unreachable(dataDirectory + "/admin.sock", "there is no such file")
    }

    /// What is wrong, and the fix.
    package var description: String {
        switch self {
        case .refused(let reason): reason.printable
        case .unusable(let path, let reason):
            "the server's answer on \(path.printable) is of no use: \(reason.printable)"
        case .unreachable(let path, let reason):
            "no server answers on \(path.printable): \(reason.printable). Name the data directory "
                + "of a running server with --data-dir, as the server's own user"
        }
    }
}
