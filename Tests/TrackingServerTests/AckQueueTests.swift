// What each side of the queue waits for, and what wakes it. `Task.immediate` runs up to the first
// suspension before it returns, so that no test has to guess whether a task has got there.
internal import ServerTestSupport
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct AckQueueTests {
    private let queue = AckQueue(
        maxRequests: 2, maxBytes: 1 << 20,
        memory: MemoryBudget(hardBytes: 1 << 30, softPercent: 80).share(of: "default"))

    private func begin(_ sequences: ClosedRange<UInt64>) throws -> [AdmittedRequest] {
        try sequences.map { sequence in
            let request = try AdmittedRequest.empty(sequence)
            _ = self.queue.begin(request, bytes: 1)
            return request
        }
    }

    @Test("one answer tells all that was settled before the writer woke")
    func oneAnswer() async throws {
        for request in try self.begin(1...3) {
            self.queue.settled([request])
            self.queue.commitEnded()
        }
        self.queue.endReading(.byClient)
        #expect(await self.queue.waitForNextAction().words == "answer 3: 1 2 3")
        #expect(await self.queue.waitForNextAction().words == "finish")
    }

    @Test("what is settled is told when its commit is over, not before")
    func afterTheCommit() async throws {
        let requests = try self.begin(1...2)
        self.queue.settled([requests[0]])
        let action = Task.immediate { await self.queue.waitForNextAction().words }
        self.queue.settled([requests[1]])
        self.queue.commitEnded()
        #expect(await action.value == "answer 2: 1 2")
    }

    @Test("a stream whose client is done finishes only after all is answered")
    func finish() async throws {
        let requests = try self.begin(1...2)
        self.queue.settled([requests[0]])
        self.queue.commitEnded()
        self.queue.endReading(.byClient)
        #expect(await self.queue.waitForNextAction().words == "answer 1: 1")
        let action = Task.immediate { await self.queue.waitForNextAction().words }
        self.queue.settled([requests[1]])
        self.queue.commitEnded()
        #expect(await action.value == "answer 2: 2")
        #expect(await self.queue.waitForNextAction().words == "finish")
    }

    @Test("closing is announced once, after the answers that are ready, with the watermark")
    func closing() async throws {
        let requests = try self.begin(1...2)
        self.queue.settled([requests[0]])
        self.queue.commitEnded()
        self.queue.beginClosing()
        self.queue.beginClosing()
        #expect(await self.queue.waitForNextAction().words == "answer 1: 1")
        #expect(await self.queue.waitForNextAction().words == "closing 1")
        self.queue.beginClosing()
        let action = Task.immediate { await self.queue.waitForNextAction().words }
        self.queue.settled([requests[1]])
        self.queue.commitEnded()
        #expect(await action.value == "answer 2: 2")
        self.queue.endReading(.byClient)
        #expect(await self.queue.waitForNextAction().words == "finish")
    }

    @Test("closing wakes a writer that waits, with requests under way")
    func closingWakes() async throws {
        _ = try self.begin(1...1)
        let action = Task.immediate { await self.queue.waitForNextAction().words }
        self.queue.beginClosing()
        #expect(await action.value == "closing 0")
    }

    @Test("the reader of a full stream waits until one request is settled")
    func waitsForRoom() async throws {
        let first = try AdmittedRequest.empty(1)
        #expect(self.queue.begin(first, bytes: 1).isLeft)
        #expect(!self.queue.begin(try AdmittedRequest.empty(2), bytes: 1).isLeft)
        let reader = Task.immediate { await self.queue.waitForRoom() }
        self.queue.settled([first])
        #expect(await reader.value.isLeft)
    }

    @Test("the reader of a stream whose answers are not taken waits for that, or the end")
    func waitsForAnswers() async throws {
        for request in try self.begin(1...4) { self.queue.settled([request]) }
        self.queue.commitEnded()
        let reader = Task.immediate { await self.queue.waitForRoom() }
        #expect(await self.queue.waitForNextAction().words == "answer 4: 1 2 3 4")
        #expect(await reader.value.isLeft)
        for request in try self.begin(5...8) { self.queue.settled([request]) }
        let last = Task.immediate { await self.queue.waitForRoom() }
        #expect(!self.queue.isReadingOver)
        self.queue.abandon()
        #expect(await !last.value.isLeft)
        #expect(self.queue.isReadingOver)
    }

    @Test("what its client wants to know is kept")
    func reportsAccepted() {
        #expect(!self.queue.reportsAccepted)
        self.queue.setReportsAccepted(true)
        #expect(self.queue.reportsAccepted)
    }
}

extension AckQueue.Action {
    /// The action in words, so that a test can compare it.
    fileprivate var words: String {
        switch self {
        case .answer(let answer):
            let sequences = answer.requests.map { "\($0.sequence)" }.joined(separator: " ")
            return "answer \(answer.durableSequence): \(sequences)"
        case .announceClosing(let durableSequence): return "closing \(durableSequence)"
        case .finish: return "finish"
        }
    }
}
