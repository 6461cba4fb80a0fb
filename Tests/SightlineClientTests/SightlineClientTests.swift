// The client against a server over loopback: what the pure tests cannot show.
internal import Foundation
internal import SightlineClient
internal import SightlineProtos
internal import Synchronization
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct SightlineClientTests {
    /// Longer than any test takes; only a failure waits for it.
    private let patience: Duration = .seconds(300)
    /// An address where nobody listens.
    private let nobody: ServerAddress

    init() throws { self.nobody = try ServerAddress("127.0.0.1:1") }

    @Test("each event gets its result, by its ticket and once in the results")
    func settlesAll() async throws {
        try await ScriptedServer().run { address in
            try await RunningClient.with(address) {
                $0.collectsResults = true
                $0.reportsAccepted = true
            } _: { client in
                async let numbers = client.results.reduce(into: []) { $0.append($1.number) }
                let tickets = try await client.send(0..<9)
                #expect(tickets.map(\.number) == Array(1...9))
                let report = try await client.close(timeout: self.patience)
                #expect(report.acknowledgedCount == 9 && report.pendingCount == 0)
                for ticket in tickets { #expect(try await ticket.verdict == .accepted) }
                #expect(await numbers == Array(1...9))
                #expect(client.statistics.verdicts == [.accepted: 9])
                #expect(client.statistics.streamCount == 1)
                #expect(client.unacknowledged().isEmpty)
            }
        }
    }

    @Test("without a word of the server an event was accepted, and its result has its id")
    func accepted() async throws {
        let server = ScriptedServer(rest: .accept)
        try await server.run { address in
            try await RunningClient.with(address) { client in
                let ticket = try await client.send(TestEvents.event("e0"))
                let result = try await ticket.result
                #expect(result.eventID == "e0" && result.verdict == .accepted)
            }
        }
        #expect(server.requests.map(\.hasOptions) == [false])
    }

    @Test("each event of a request that was refused as a whole has a result with its own id")
    func wholeRefusal() async throws {
        try await ScriptedServer([.reject]).run { address in
            try await RunningClient.with(address) { client in
                for (number, ticket) in try await client.send(0..<2).enumerated() {
                    let result = try await ticket.result
                    #expect(result.eventID == "e\(number)" && result.verdict == .rejected)
                }
            }
        }
    }

    @Test("an answer may be larger than gRPC's default limit of 4 MiB")
    func largeAnswer() async throws {
        let byteCount = 5 << 20
        try await ScriptedServer([.rejectAtLength(byteCount)]).run { address in
            try await RunningClient.with(address) { client in
                let result = try await client.send(TestEvents.event("e0")).result
                #expect(result.verdict == .rejected)
                #expect(result.violations.map(\.description_p.utf8.count) == [byteCount])
                #expect(client.statistics.streamCount == 1)
            }
        }
    }

    @Test("what was not acked goes again on a new stream, with its sequence, and is told of")
    func resends() async throws {
        let server = ScriptedServer([.settle(.accepted), .breakOff])
        let interruptions = Mutex<[String]>([])
        try await server.run { address in
            try await RunningClient.with(address) { configuration in
                configuration.reportsAccepted = true
                configuration.onInterruption = { told in
                    interruptions.withLock { $0.append("\(told.code) \(told.reason)") }
                }
            } _: { client in
                _ = try await client.send(0..<4)
                try await client.close(timeout: self.patience)
                #expect(client.statistics.reconnectionCount == 1)
                #expect(client.statistics.resentRequestCount == 1)
            }
        }
        let requests = server.requests
        #expect(requests.map(\.sequence) == [1, 2, 2])
        #expect(requests[1].events == requests[2].events)
        #expect(requests[2].options.reportAccepted)
        #expect(interruptions.withLock { $0 } == ["UNAVAILABLE a break"])
    }

    @Test("a server that closes a stream gets the rest on the next one")
    func closing() async throws {
        let server = ScriptedServer([.close])
        try await server.run { address in
            try await RunningClient.with(address) { client in
                _ = try await client.send(0..<4)
                try await client.close(timeout: self.patience)
                #expect(client.statistics.streamCount == 2)
                #expect(client.statistics.resentRequestCount == 0)
            }
        }
        #expect(server.requests.flatMap(\.events).map(\.eventID) == ["e0", "e1", "e2", "e3"])
    }

    @Test("RETRY_LATER goes again with a new sequence")
    func retriesLater() async throws {
        let server = ScriptedServer([.settle(.retryLater)])
        try await server.run { address in
            try await RunningClient.with(address) { client in
                _ = try await client.send(0..<2)
                let report = try await client.flush(timeout: self.patience)
                #expect(report.acknowledgedCount == 2)
                #expect(client.statistics.retriedEventCount == 2)
            }
        }
        #expect(server.requests.map(\.sequence) == [1, 2])
    }

    @Test("a server that always answers RETRY_LATER is what the end names")
    func retriesForEver() async throws {
        try await ScriptedServer(rest: .settle(.retryLater)).run { address in
            try await RunningClient.with(address) { client in
                _ = try await client.send(0..<2)
                while client.statistics.lastFailure == nil { await Task.yield() }
                let error = await #expect(throws: SightlineClientError.self) {
                    try await client.close(timeout: .zero)
                }
                #expect(error?.description.contains("the server takes no events now") == true)
            }
        }
    }

    @Test("a refusal ends the client: tickets, calls and run tell it, and the events are kept")
    func refusal() async throws {
        let server = ScriptedServer([.refuse])
        try await server.run { address in
            let client = try SightlineClient(RunningClient.configuration(address))
            let running = Task { try await client.run() }
            let ticket = try await client.send(TestEvents.event("e0"))
            let expected = SightlineClientError.refused(
                target: address.description, code: "INVALID_ARGUMENT",
                reason: "refused; sequence: it must rise")
            await #expect(throws: expected) { try await ticket.result }
            await #expect(throws: expected) { try await running.value }
            await #expect(throws: expected) { try await client.send(TestEvents.event("e1")) }
            await #expect(throws: expected) { try await client.flush() }
            await #expect(throws: expected) { try await client.close() }
            #expect(client.unacknowledged().map(\.eventID) == ["e0"])
        }
        #expect(server.requests.count == 1)
    }

    @Test("a status without the server's reason is a proxy's, and the client goes on")
    func proxy() async throws {
        let server = ScriptedServer([.noServer, .noServer])
        try await server.run { address in
            try await RunningClient.with(address) { client in
                let ticket = try await client.send(TestEvents.event("e0"))
                #expect(try await ticket.verdict == .accepted)
            }
        }
        #expect(server.requests.count == 3)
    }

    @Test("a flush and a close that take too long say what is left, which is kept")
    func timeouts() async throws {
        try await ScriptedServer(rest: .silence).run { address in
            try await RunningClient.with(address) { client in
                let tickets = try await client.send(0..<3)
                let report = FlushReport(acknowledgedCount: 0, pendingCount: 3)
                await #expect(throws: SightlineClientError.timedOut(report)) {
                    try await client.flush(timeout: .milliseconds(10))
                }
                await #expect(throws: SightlineClientError.timedOut(report)) {
                    try await client.close(timeout: .milliseconds(10))
                }
                await #expect(throws: SightlineClientError.timedOut(report)) {
                    try await tickets[0].result
                }
                await #expect(throws: SightlineClientError.closed) {
                    try await client.send(TestEvents.event("e3"))
                }
                #expect(client.unacknowledged().map(\.eventID) == ["e0", "e1", "e2"])
            }
        }
    }

    @Test("what a client waits for is in its errors and statistics until events have verdicts")
    func lastFailure() async throws {
        let server = ScriptedServer([.breakOff])
        try await server.run { address in
            try await RunningClient.with(address) { client in
                let ticket = try await client.send(TestEvents.event("e0"))
                #expect(try await ticket.verdict == .accepted)
                #expect(client.statistics.streamCount == 2)
                #expect(client.statistics.lastFailure == nil)
            }
        }
        let (failures, continuation) = AsyncStream<Void>.makeStream()
        try await RunningClient.with(self.nobody) {
            $0.onInterruption = { _ in continuation.yield() }
        } _: { client in
            _ = try await client.send(0..<2)
            for await _ in failures { break }
            let error = await #expect(throws: SightlineClientError.self) {
                try await client.close(timeout: .zero)
            }
            let text = try #require(error?.description)
            #expect(text.hasPrefix("2 events have no verdict yet, 0 have theirs; "))
            #expect(text.contains("the last failure: UNAVAILABLE: "))
            #expect(client.statistics.lastFailure?.isEmpty == false)
        }
    }

    @Test("a scope closes its client, whether or not its body throws", arguments: [false, true])
    func scope(fails: Bool) async throws {
        struct Failure: Error {}
        let server = ScriptedServer()
        try await server.run { address in
            let configuration = RunningClient.configuration(address)
            var hasFailed = false
            do {
                let number = try await SightlineClient.with(configuration) { client in
                    let tickets = try await client.send(0..<3)
                    if fails { throw Failure() }
                    return tickets.count
                }
                #expect(number == 3)
            } catch is Failure {
                hasFailed = true
            }
            #expect(hasFailed == fails)
        }
        #expect(server.requests.flatMap(\.events).count == 3)
        await #expect(throws: SightlineClientError.self) {
            try await SightlineClient.with(
                RunningClient.configuration(self.nobody), closeTimeout: .zero
            ) { try await $0.send(0..<1).count }
        }
    }

    @Test("a silent server is given up, and the events go again")
    func answerTimeout() async throws {
        let server = ScriptedServer([.silence])
        try await server.run { address in
            try await RunningClient.with(address) {
                $0.answerTimeout = .seconds(10)
            } _: { client in
                let tickets = try await client.send(0..<1)
                #expect(try await tickets[0].verdict == .accepted)
                // On a busy machine another one may be given up before it reaches the server.
                #expect(client.statistics.streamCount >= 2)
            }
        }
        let requests = server.requests
        #expect(requests.count >= 2 && requests.allSatisfy { $0 == requests[0] })
    }

    @Test("a peer that accepts connections and says nothing is given up, and tried again")
    func silentPeer() async throws {
        let listener = try SilentListener()
        let (reasons, continuation) = AsyncStream<String>.makeStream()
        try await RunningClient.with(ServerAddress("127.0.0.1:\(listener.port)")) {
            $0.answerTimeout = .milliseconds(100)
            $0.onInterruption = { continuation.yield("\($0.code): \($0.reason)") }
        } _: { client in
            _ = try await client.send(0..<1)
            var count = 0
            for await reason in reasons {
                #expect(reason.hasPrefix("DEADLINE_EXCEEDED: no answer for"))
                count += 1
                if count == 2 { break }
            }
            #expect(count == 2)
            #expect(client.statistics.lastFailure?.hasPrefix("DEADLINE_EXCEEDED") == true)
        }
        withExtendedLifetime(listener) {}
    }

    @Test("a closed client takes nothing, and may be closed again")
    func closed() async throws {
        let client = try SightlineClient(RunningClient.configuration(self.nobody))
        #expect(try await client.close().pendingCount == 0)
        #expect(try await client.close().pendingCount == 0)
        await #expect(throws: SightlineClientError.closed) {
            try await client.send(TestEvents.event("e0"))
        }
        #expect(try await client.flush().pendingCount == 0)
    }

    @Test("run ends by beginClosing, and by its cancellation; it is called once")
    func runs() async throws {
        try await ScriptedServer().run { address in
            let client = try SightlineClient(RunningClient.configuration(address))
            _ = try await client.send(0..<3)
            client.beginClosing()
            try await client.run()
            #expect(client.statistics.settledCount == 3)
            await #expect(throws: SightlineClientError.ran) { try await client.run() }
        }
        let client = try SightlineClient(RunningClient.configuration(self.nobody))
        let ticket = try await client.send(TestEvents.event("e0"))
        let running = Task { try await client.run() }
        running.cancel()
        try await running.value
        await #expect(throws: SightlineClientError.closed) { try await ticket.result }
        #expect(client.unacknowledged().count == 1)
    }

    @Test("with a spool the next client sends what is left", arguments: [false, true])
    func spool(syncsSends: Bool) async throws {
        let folder = try TemporaryDirectory()
        let spool = SpoolConfiguration(directory: folder.path, syncsSends: syncsSends)
        do {
            var configuration = RunningClient.configuration(self.nobody)
            configuration.spool = spool
            let client = try SightlineClient(configuration)
            _ = try await client.send(0..<5)
            // The spool keeps them: the end loses none.
            #expect(try await client.close(timeout: .zero).pendingCount == 5)
        }
        let server = ScriptedServer()
        try await server.run { address in
            try await RunningClient.with(address) {
                $0.spool = spool
            } _: { client in
                #expect(client.statistics.pendingCount == 5)
                #expect(try await client.send(TestEvents.event("e5")).number == 6)
                try await client.close(timeout: self.patience)
            }
        }
        #expect(server.requests.flatMap(\.events).map(\.eventID) == (0..<6).map { "e\($0)" })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["lock"])
    }

    @Test("many tasks send at once, and share syncs of the spool")
    func concurrentSends() async throws {
        let folder = try TemporaryDirectory()
        try await ScriptedServer().run { address in
            try await RunningClient.with(address) {
                $0.spool = SpoolConfiguration(directory: folder.path, syncsSends: true)
                $0.maxPendingEvents = 7
            } _: { client in
                let numbers = try await withThrowingTaskGroup(of: [UInt64].self) { group in
                    for _ in 0..<8 {
                        group.addTask { try await client.send(0..<25).map(\.number) }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(numbers.sorted() == Array(1...200))
                #expect(try await client.close(timeout: self.patience).pendingCount == 0)
                #expect(client.statistics.settledCount == 200)
            }
        }
    }
}
