// A backend on loopback as Protos describe one, which breaks off where a test tells it to.
package import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
package import GRPCSink
package import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
package import TestSupport

/// Keeps hits in memory, each with its position. A script says what becomes of each message, and of
/// each Erase.
package final class TestBackend: Sightline_V1_SinkService.SimpleServiceProtocol {
    /// What becomes of a message with hits.
    package enum Reply: Sendable {
        case take
        /// Takes it, and acknowledges it only if the server sends nothing more before an ack.
        case gather
        /// Takes all but these, by their number in the message.
        case refuse(Set<Int>)
        /// Takes it, and breaks the stream before the ack.
        case takeAndBreak
        /// Breaks the stream.
        case breakOff
        /// No answer, and nothing is kept.
        case stall
        /// These answers, and nothing is kept.
        case say([Sightline_V1_DeliverResponse])
        /// This answer, again and again until the stream ends.
        case sayOn(Sightline_V1_DeliverResponse)
        /// These answers, and then as the next of the script.
        case sayFirst([Sightline_V1_DeliverResponse])
    }

    fileprivate struct State: Sendable {
        var script: [Reply]
        /// What becomes of a message after the end of the script.
        let rest: Reply
        var welcome: @Sendable (inout Sightline_V1_Welcome) -> Void = { _ in }
        var records: [Sightline_V1_TrackingRecord] = []
        var ends: [String: Sightline_V1_Position] = [:]
        var refused: [String: [Sightline_V1_Refusal]] = [:]
        var owners: [String: Int] = [:]
        var hellos: [Sightline_V1_Hello] = []
        var batches: [Sightline_V1_RecordBatch] = []
        var erases: [Sightline_V1_Erase] = []
        var keys: [String] = []
        var greetings: [Sightline_V1_DeliverResponse] = []
        var repeated: Sightline_V1_DeliverResponse?
    }

    fileprivate let state: Mutex<State>
    private let port = Mutex(0)

    /// A backend that listens.
    package init(_ script: [Reply] = [], then rest: Reply = .take) async throws {
        self.state = Mutex(State(script: script, rest: rest))
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
        let server = GRPCServer(transport: transport, services: [self])
        Task { try await server.serve() }
        let port = try await transport.listeningAddress.ipv4?.port ?? 0
        self.port.withLock { $0 = port }
    }

    /// The backend of a test's directory.
    package static func of(_ directory: TemporaryDirectory) async throws -> TestBackend {
        if let known = Self.known(directory) { return known }
        let backend = try await TestBackend()
        self.all.withLock { $0[directory.path] = backend }
        return backend
    }

    package static func known(_ directory: TemporaryDirectory) -> TestBackend? {
        self.all.withLock { $0[directory.path] }
    }

    private static let all = Mutex<[String: TestBackend]>([:])

    /// Settings for a sink that connects to it.
    package func configuration(
        _ change: (inout GRPCConfiguration) -> Void = { _ in }
    ) -> GRPCConfiguration {
        var configuration = GRPCConfiguration()
        // A busy machine is no silent backend.
        (configuration.connectTimeout, configuration.ackTimeout) = (.seconds(300), .seconds(300))
        configuration.target = "127.0.0.1:\(self.port.withLock { $0 })"
        change(&configuration)
        return configuration
    }

    /// The hits that it has, in the order in which they came.
    package var records: [Sightline_V1_TrackingRecord] { self.state.withLock(\.records) }
    package var hellos: [Sightline_V1_Hello] { self.state.withLock(\.hellos) }
    package var batches: [Sightline_V1_RecordBatch] { self.state.withLock(\.batches) }
    package var erases: [Sightline_V1_Erase] { self.state.withLock(\.erases) }
    /// The values of `authorization` of its streams.
    package var keys: [String] { self.state.withLock(\.keys) }

    /// What comes next.
    package func script(_ replies: [Reply]) {
        self.state.withLock { ($0.script, $0.repeated) = (replies, nil) }
    }

    /// Changes each Welcome.
    package func changeWelcome(_ body: @escaping @Sendable (inout Sightline_V1_Welcome) -> Void) {
        self.state.withLock { $0.welcome = body }
    }

    /// What is said after the next Welcome.
    package func greet(_ responses: [Sightline_V1_DeliverResponse]) {
        self.state.withLock { $0.greetings = responses }
    }

    /// Loses what it has.
    package func forget() {
        self.state.withLock { ($0.records, $0.ends, $0.refused) = ([], [:], [:]) }
    }

    package func deliver(
        request: RPCAsyncSequence<Sightline_V1_DeliverRequest, any Error>,
        response: RPCWriter<Sightline_V1_DeliverResponse>, context: ServerContext
    ) async throws {
        var key = ""
        var number = 0
        for try await message in request {
            switch message.message {
            case .hello(let hello):
                key = "\(hello.journalID) \(hello.sink)"
                let (owner, answers) = self.welcome(hello, key)
                number = owner
                try await response.write(contentsOf: answers)
            case .batch(let batch):
                try await response.write(
                    contentsOf: try self.take(key, number, batch.awaitsAck) { state in
                        state.batches.append(batch)
                        return { state, refused in state.store(batch, key, but: refused) }
                    })
            case .erase(let erase):
                try await response.write(
                    contentsOf: try self.take(key, number, true) { state in
                        state.erases.append(erase)
                        return { state, _ in state.erase(erase) }
                    })
            case nil: throw RPCError(code: .invalidArgument, message: "nothing")
            }
            while let repeated = self.state.withLock(\.repeated) {
                try await response.write(repeated)
            }
        }
    }

    private func welcome(
        _ hello: Sightline_V1_Hello, _ key: String
    ) -> (Int, [Sightline_V1_DeliverResponse]) {
        self.state.withLock { state in
            state.hellos.append(hello)
            state.owners[key] = state.hellos.count
            var welcome = Sightline_V1_Welcome()
            welcome.version = 1
            welcome.capabilities = [.refusals, .erasure]
            welcome.journalID = hello.journalID
            if let end = state.ends[key] {
                welcome.durable = end
            } else {
                welcome.nothing = .init()
            }
            welcome.refused = (state.refused[key] ?? []).filter {
                $0.sequence > hello.settledSequence
            }
            state.welcome(&welcome)
            let greetings = state.greetings
            state.greetings = []
            return (state.hellos.count, [.with { $0.welcome = welcome }] + greetings)
        }
    }

    /// - Parameter note: notes a request; what it returns does it, but for hits of some numbers.
    private func take(
        _ key: String, _ owner: Int, _ awaitsAnswer: Bool,
        _ note: (inout State) -> (inout State, Set<Int>) -> Sightline_V1_DeliverResponse
    ) throws -> [Sightline_V1_DeliverResponse] {
        try self.state.withLock { state in
            guard state.owners[key] == owner else {
                throw RPCError(code: .aborted, message: "there is a later stream")
            }
            let store = note(&state)
            var said: [Sightline_V1_DeliverResponse] = []
            while true {
                switch state.script.isEmpty ? state.rest : state.script.removeFirst() {
                case .take: return said + [store(&state, [])]
                case .gather:
                    let answer = store(&state, [])
                    return said + (awaitsAnswer ? [answer] : [])
                case .refuse(let numbers): return said + [store(&state, numbers)]
                case .takeAndBreak:
                    _ = store(&state, [])
                    throw RPCError(code: .unavailable, message: "a break after the batch")
                case .breakOff: throw RPCError(code: .unavailable, message: "a break")
                case .stall: return said
                case .say(let responses): return said + responses
                case .sayOn(let response):
                    state.repeated = response
                    return said
                case .sayFirst(let responses): said += responses
                }
            }
        }
    }
}

extension TestBackend.State {
    fileprivate mutating func erase(
        _ erase: Sightline_V1_Erase
    ) -> Sightline_V1_DeliverResponse {
        let before = self.records.count
        self.records.removeAll { record in
            record.tenant == erase.tenant && erase.subjectIds.contains(record.event.subjectID)
        }
        let count = before - self.records.count
        return .with { $0.erased.erasedCount = UInt64(count) }
    }

    fileprivate mutating func store(
        _ batch: Sightline_V1_RecordBatch, _ key: String, but refused: Set<Int>
    ) -> Sightline_V1_DeliverResponse {
        var ack = Sightline_V1_Ack()
        ack.durable = batch.end
        var number = 0
        for part in batch.groups {
            for index in 0..<part.count {
                if refused.contains(number) {
                    ack.refused.append(
                        .with {
                            $0.sequence = part.sequence
                            $0.index = part.firstIndex + index
                            $0.code = "TEST"
                            $0.reason = "number \(number)"
                        })
                } else {
                    self.records.append(batch.records[number])
                }
                number += 1
            }
        }
        self.refused[key, default: []] += ack.refused
        self.ends[key] = batch.end
        return .with { $0.ack = ack }
    }
}
