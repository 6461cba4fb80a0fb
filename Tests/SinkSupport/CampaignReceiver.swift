// A Campaign server on loopback that answers as each test says.
package import CampaignSink
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

/// A path of the one server that all tests share, and what came to it.
package final class CampaignReceiver: Sendable {
    /// An answer of the server.
    package struct Reply: Sendable {
        package var status = 200
        package var headers: [String: String] = [:]
        package var bodyBytes = 0

        package static let counted = Reply()

        package init(status: Int = 200, headers: [String: String] = [:], bodyBytes: Int = 0) {
            self.status = status
            self.headers = headers
            self.bodyBytes = bodyBytes
        }
    }

    /// What happened to a request, in the order in which it did.
    package enum Step: Equatable {
        case came(String)
        case answered(String, Int)
    }

    /// Answers a query.
    package typealias Script = @Sendable (String) async -> Reply

    /// The path, unlike any other test's.
    package let path: String
    private let script: Script
    private let state = Mutex(State())

    private struct State {
        var steps: [Step] = []
        var inFlight = 0
        var mostInFlight = 0
    }

    /// A receiver at a path.
    package init(
        path: String = "/\(UUID().uuidString)/", script: @escaping Script = { _ in .counted }
    ) {
        self.path = path
        self.script = script
        Self.receivers.withLock { $0[path] = self }
    }

    /// What happened, in order.
    package var steps: [Step] { self.state.withLock { $0.steps } }
    /// Queries in the order in which they came.
    package var queries: [String] {
        self.steps.compactMap { step -> String? in
            guard case .came(let query) = step else { return nil }
            return query
        }
    }
    /// Queries that were answered with 200.
    package var counted: [String] {
        self.steps.compactMap { step -> String? in
            guard case .answered(let query, 200) = step else { return nil }
            return query
        }
    }
    /// The most requests that were there at once.
    package var mostInFlight: Int { self.state.withLock { $0.mostInFlight } }

    /// A configuration that sends the tenant `default` here.
    package func configuration(
        _ change: (inout CampaignConfiguration) -> Void = { _ in }
    ) async throws -> CampaignConfiguration {
        let url = "http://127.0.0.1:\(try await Self.port.value)"
        var configuration = CampaignConfiguration()
        configuration.servers["default"] = CampaignServers(standard: url, classic: url)
        configuration.path = self.path
        // Beside hundreds of other tests a request may wait for a core for seconds.
        configuration.standardTimeout = .seconds(300)
        configuration.classicTimeout = .seconds(300)
        change(&configuration)
        return configuration
    }

    private func answer(_ query: String) async -> Reply {
        self.state.withLock { state in
            state.steps.append(.came(query))
            state.inFlight += 1
            state.mostInFlight = max(state.mostInFlight, state.inFlight)
        }
        let reply = await self.script(query)
        self.state.withLock { state in
            state.steps.append(.answered(query, reply.status))
            state.inFlight -= 1
        }
        return reply
    }

    // MARK: The server

    private static let receivers = Mutex<[String: CampaignReceiver]>([:])

    /// The receiver at a path, if a test has made one.
    package static func at(_ path: String) -> CampaignReceiver? {
        Self.receivers.withLock { $0[path] }
    }

    /// The port of the server, which listens until the process ends.
    private static let port = Task<Int, any Error> {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let server = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                await CampaignReceiver.respond(to: request.head.path ?? "")
            },
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "receiver") { _ in SwiftLogNoOpLogHandler() })
        Task { try await server.run() }
        for await port in ports { return port }
        throw CancellationError()
    }

    private static func respond(to target: String) async -> Response {
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        guard let receiver = Self.at(String(target[..<mark])) else {
            return Response(status: .notFound)
        }
        let reply = await receiver.answer(String(target[mark...]))
        var headers = HTTPFields()
        for (name, value) in reply.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: reply.bodyBytes)
        return Response(
            status: .init(code: reply.status), headers: headers, body: .init(byteBuffer: body))
    }
}

/// Lets nobody pass until so many wait at once, and then all of them; again and again.
package final class Barrier: Sendable {
    private let count: Int
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    package init(of count: Int) { self.count = count }

    package func pass() async {
        await withCheckedContinuation { continuation in
            let released = self.waiting.withLock { waiting in
                waiting.append(continuation)
                guard waiting.count == self.count else {
                    return [CheckedContinuation<Void, Never>]()
                }
                defer { waiting = [] }
                return waiting
            }
            for continuation in released { continuation.resume() }
        }
    }
}
