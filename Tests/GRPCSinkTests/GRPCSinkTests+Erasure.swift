// How the grpc sink has a recipient forgotten, over real connections.
@testable internal import GRPCSink
internal import Logging
internal import ServiceLifecycle
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import Testing

extension GRPCSinkTests {
    /// The recipient of the second hit of group 1, as it was sent and as it is hashed.
    private static let gone = Subject(tenant: "default", ids: ["subject-11", "5ec7"])
    private static let lost = Sightline_V1_DeliverResponse.with { $0.lost.reason = "a disk" }
    private static let drain = Sightline_V1_DeliverResponse.with { $0.drain.reason = "an upgrade" }

    /// Expects a failure, with words in its reason.
    private func expectFailed(_ erasure: Erasure, _ words: String) {
        #expect(erasure.outcome == .failed && erasure.count == 0, "\(erasure)")
        #expect(erasure.reason.hasPrefix("the backend 127.0.0.1:"), "\(erasure)")
        #expect(erasure.reason.contains(words), "\(erasure)")
    }

    @Test("a recipient is erased on the open stream, between batches, and again as often as asked")
    func erases() async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch(1...3)) == .delivered)
        #expect(await sink.erase(Self.gone).end() == .erased(1))
        #expect(await sink.erase(Self.gone).end() == .erased(0))
        let other = Subject(tenant: "another", ids: ["subject-12"])
        #expect(await sink.erase(other).end() == .erased(0))
        #expect(backend.erases.map(\.tenant) == ["default", "default", "another"])
        #expect(backend.erases.first?.subjectIds == ["subject-11", "5ec7"])
        #expect(await sink.deliver(try self.batch(4...4)) == .delivered)
        #expect(backend.hellos.count == 1)
        let subjects = backend.records.map(\.event.subjectID)
        #expect(subjects.count == 15 && !subjects.contains("subject-11"))
    }

    @Test("without a stream one is opened for it, which the next delivery does not use")
    func erasesWithoutStream() async throws {
        let backend = try await TestBackend()
        let first = try GRPCSink(backend.configuration())
        #expect(await first.deliver(try self.batch(1...3)) == .delivered)
        let sink = try GRPCSink(backend.configuration(), name: "mine")
        self.expectFailed(await sink.erase(Self.gone).end(), "no delivery has begun")
        sink.use(self.journal(9, groups: 1...9))
        #expect(await sink.erase(Self.gone).end() == .erased(1))
        #expect(await sink.deliver(try self.batch(4...4)) == .delivered)
        #expect(backend.hellos.map(\.journalID) == ["j", "j", "j"])
        #expect(backend.hellos.map(\.sink) == ["grpc", "mine", "mine"])
        // What is refused in a batch that was not delivered is asked for again.
        #expect(backend.hellos.map(\.settledSequence) == [0, 0, 3])
        backend.script([.takeAndBreak])
        guard case .unavailable = await sink.deliver(try self.batch(5...6)) else {
            Issue.record("the stream does not break")
            return
        }
        #expect(await sink.erase(Self.gone).end() == .erased(0))
        #expect(backend.hellos.map(\.settledSequence) == [0, 0, 3, 4])
        #expect(await sink.deliver(try self.batch(5...6)) == .delivered)
        #expect(backend.records.count == 23)
    }

    @Test("a backend that cannot forget anybody is not asked, and the receipt says so")
    func cannotErase() async throws {
        let backend = try await TestBackend()
        backend.changeWelcome { $0.capabilities = [.refusals] }
        let sink = try GRPCSink(backend.configuration())
        for isOpen in [false, true] {
            if isOpen { #expect(await sink.deliver(try self.batch()) == .delivered) }
            sink.use(self.journal(9))
            let erasure = await sink.erase(Self.gone).end()
            #expect(erasure.outcome == .impossible)
            #expect(erasure.reason.contains("SINK_CAPABILITY_ERASURE"))
        }
        #expect(backend.erases.isEmpty)
        #expect(await sink.deliver(try self.batch(2...2)) == .delivered)
    }

    @Test("the receipt says until when earlier versions have the id, and why it failed")
    func erasureAnswers() async throws {
        func erased(
            _ change: (inout Sightline_V1_Erased) -> Void
        ) -> Sightline_V1_DeliverResponse {
            .with { change(&$0.erased) }
        }
        let rows: [(Sightline_V1_DeliverResponse, Erasure.Outcome, String)] = [
            (erased { $0.erasedCount = 7 }, .erased, ""),
            (
                erased {
                    ($0.erasedCount, $0.retainedUntil.seconds, $0.retainedUntil.nanos) = (
                        7, 86_399, 1
                    )
                }, .erased, "earlier versions hold the id until 1970-01-02T00:00:00Z"
            ),
            (erased { $0.failure = "the disk is full" }, .failed, ": the disk is full"),
            // It was told not to name anybody.
            (erased { $0.failure = "no subject-11, alas" }, .failed, ": no **********, alas"),
        ]
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch()) == .delivered)
        for (response, outcome, words) in rows {
            backend.script([.say([response])])
            let erasure = await sink.erase(Self.gone).end()
            #expect(erasure.outcome == outcome && erasure.reason.hasSuffix(words), "\(erasure)")
            #expect(erasure.count == (outcome == .erased ? 7 : 0))
        }
        #expect(backend.hellos.count == 1)
    }

    @Test("a stream that breaks fails the erasure, and it can be asked for again")
    func erasureBreaks() async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        sink.use(self.journal(9, groups: 1...9))
        #expect(await sink.deliver(try self.batch(1...3)) == .delivered)
        let time = Sightline_V1_DeliverResponse.with { $0.erased.retainedUntil.nanos = -1 }
        for reply in [TestBackend.Reply.breakOff, .say([time]), .breakOff] {
            backend.script([reply])
            let erasure = await sink.erase(Self.gone).end()
            self.expectFailed(
                erasure, "\(reply)".contains("say") ? "which is no time" : "unavailable")
        }
        #expect(await sink.erase(Self.gone).end() == .erased(1))
        #expect(await sink.deliver(try self.batch(4...4)) == .delivered)
        #expect(backend.records.count == 15)
    }

    @Test("a backend that is silent fails the erasure in time, and Busy gives it more")
    func erasureTakesTime() async throws {
        let busy = Sightline_V1_DeliverResponse.with { $0.busy.delay.nanos = 500_000_000 }
        let rows: [([Sightline_V1_DeliverResponse], Duration)] = [
            ([], .zero), ([busy], .milliseconds(500)),
        ]
        for (responses, more) in rows {
            var isShown = false
            // On a busy machine what the backend says takes longer to come.
            for timeout in [.seconds(2), .seconds(20), .seconds(200)] as [Duration] where !isShown {
                let backend = try await TestBackend([.take, .say(responses)])
                let sink = try GRPCSink(backend.configuration { $0.ackTimeout = timeout })
                sink.use(self.journal(9, groups: 1...9))
                guard await sink.deliver(try self.batch(1...1)) == .delivered else { continue }
                let start = ContinuousClock.now
                self.expectFailed(
                    await sink.erase(Self.gone).end(), "no Erased within grpc.ack_seconds")
                let time = ContinuousClock.now - start
                #expect(time >= timeout)
                backend.script([])
                let erasure = await sink.erase(Self.gone).end()
                let answer = await sink.deliver(try self.batch(2...2))
                isShown =
                    time >= timeout + more && erasure.outcome == .erased && answer == .delivered
            }
            #expect(isShown)
        }
    }

    @Test("a backend that is busy for ever fails the erasure in the end, and holds no hits then")
    func erasureOfEndlesslyBusyBackend() async throws {
        let busy = Sightline_V1_DeliverResponse.with { $0.busy.delay.nanos = 50_000_000 }
        var isShown = false
        // On a busy machine what the backend says takes longer to come.
        for timeout in [.seconds(1), .seconds(10), .seconds(60)] as [Duration] where !isShown {
            let backend = try await TestBackend()
            let sink = try GRPCSink(
                backend.configuration {
                    ($0.ackTimeout, $0.maxBusy) = (timeout, .milliseconds(100))
                })
            sink.use(self.journal(9, groups: 1...9))
            guard await sink.deliver(try self.batch(1...1)) == .delivered else { continue }
            backend.script([.sayOn(busy)])
            self.expectFailed(await sink.erase(Self.gone).end(), "with Busy within")
            backend.script([])
            let answer = await sink.deliver(try self.batch(2...2))
            let erasure = await sink.erase(Self.gone).end()
            isShown = answer == .delivered && erasure.outcome == .erased
        }
        #expect(isShown)
    }

    @Test("a backend that has asked for a long time is not asked to forget anybody meanwhile")
    func erasureOfBusyBackend() async throws {
        let long = Sightline_V1_DeliverResponse.with { $0.busy.delay.seconds = 3600 }
        let backend = try await TestBackend([.sayFirst([long])])
        let sink = try GRPCSink(backend.configuration { $0.maxBusy = .seconds(3600) })
        #expect(await sink.deliver(try self.batch()) == .delivered)
        self.expectFailed(await sink.erase(Self.gone).end(), "the backend is busy")
        self.expectFailed(await sink.erase(Self.gone).end(), "s are left")
        #expect(backend.erases.isEmpty)
    }

    @Test(
        "a loss that the backend tells instead is told by the next delivery",
        arguments: [true, false])
    func lossAtErasure(_ isOpen: Bool) async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        sink.use(self.journal(9, groups: 1...9))
        if isOpen { #expect(await sink.deliver(try self.batch(1...1)) == .delivered) }
        backend.script([.say([Self.lost])])
        self.expectFailed(await sink.erase(Self.gone).end(), "it has lost hits")
        #expect(
            await sink.deliver(try self.batch(2...2))
                == .dataLoss(reason: "the backend: it has lost hits"))
        #expect(await sink.deliver(try self.batch(1...2)) == .delivered)
        #expect(await sink.erase(Self.gone).end() == .erased(1))
    }

    @Test("a backend that drains is waited for, and the next batch gets a new stream")
    func drainAtErasure() async throws {
        let backend = try await TestBackend([.take, .sayFirst([Self.drain])])
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        #expect(await sink.erase(Self.gone).end() == .erased(1))
        #expect(await sink.deliver(try self.batch(2...2)) == .delivered)
        #expect(backend.hellos.count == 2 && backend.records.count == 7)
    }

    @Test("a caller that has gone does not end what it has begun")
    func callerGone() async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch()) == .delivered)
        let erasure = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await sink.erase(Self.gone).end()
        }
        #expect(await erasure.value == .erased(1))
    }

    /// Erases a subject, as a call does that the stop waits for.
    private struct Erasing: Service {
        let sink: GRPCSink
        let erasures: AsyncStream<Erasure>.Continuation

        func run() async {
            self.erasures.yield(await self.sink.erase(GRPCSinkTests.gone).end())
        }
    }

    @Test("a server that stops does not wait for the backend")
    func stopAtErasure() async throws {
        let backend = try await TestBackend([.take, .stall])
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch()) == .delivered)
        let erasures = AsyncStream.makeStream(of: Erasure.self)
        let group = ServiceGroup(
            services: [Erasing(sink: sink, erasures: erasures.continuation)],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let stopped = Task { try? await group.run() }
        while backend.erases.isEmpty { await Task.yield() }
        await group.triggerGracefulShutdown()
        var iterator = erasures.stream.makeAsyncIterator()
        self.expectFailed(try #require(await iterator.next()), "the server stops")
        await stopped.value
    }
}
