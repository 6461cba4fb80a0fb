// The bytes in flight: when calls are refused, when reading stops, and that every waiter is woken.
internal import GRPCCore
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct MemoryBudgetTests {
    private let budget = MemoryBudget(hardBytes: 1000, softPercent: 80)

    @Test(
        "at each limit all goes on, one byte beyond it does not",
        arguments: [
            (0, false, false), (800, false, false), (801, true, false), (1000, true, false),
            (1001, true, true),
        ])
    func limits(_ bytes: Int, _ isNearlyFull: Bool, _ isFull: Bool) {
        self.budget.add(bytes)
        #expect(self.budget.isNearlyFull == isNearlyFull)
        #expect(self.budget.isFull == isFull)
        self.budget.remove(bytes)
        #expect(self.budget.bytesInFlight == 0)
    }

    @Test("the soft limit is a share of the hard", arguments: [(1, 10), (80, 800), (100, 1000)])
    func softShare(_ percent: Int, _ bytes: Int) {
        #expect(MemoryBudget(hardBytes: 1000, softPercent: percent).softBytes == bytes)
    }

    @Test("whoever waits goes on once there is room, all of them")
    func waits() async {
        self.budget.add(1100)
        let waiters = (0..<10).map { _ in Task.immediate { await self.budget.waitForRoom() } }
        self.budget.remove(99)
        #expect(self.budget.isFull)
        self.budget.remove(1)
        for waiter in waiters { await waiter.value }
        #expect(self.budget.bytesInFlight == 1000)
    }

    @Test("a wait ends when its task is cancelled")
    func cancelled() async {
        self.budget.add(1001)
        let waiter = Task.immediate { await self.budget.waitForRoom() }
        waiter.cancel()
        await waiter.value
        #expect(self.budget.isFull)
    }

    @Test("no wake-up gets lost between many that add, wait and remove")
    func manyAtOnce() async {
        let budget = self.budget
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    for _ in 0..<200 {
                        budget.add(300)
                        await Task.yield()
                        budget.remove(300)
                        await budget.waitForRoom()
                    }
                }
            }
        }
        #expect(budget.bytesInFlight == 0)
    }

    @Test("a stream's requests count from when they are begun until their answer is taken")
    func answered() async throws {
        let queue = AckQueue(maxRequests: 9, maxBytes: 1 << 20, budget: self.budget)
        let requests = try (1...3).map { try AdmittedRequest.empty($0) }
        for request in requests { _ = queue.begin(request, bytes: 100) }
        queue.settled([requests[0]])
        queue.settled([requests[1]])
        queue.commitEnded()
        #expect(self.budget.bytesInFlight == 300)
        guard case .answer = await queue.waitForNextAction() else {
            Issue.record("no answer")
            return
        }
        #expect(self.budget.bytesInFlight == 100)
    }

    @Test("what a stream has not answered when it is gone counts no longer")
    func gone() throws {
        do {
            let queue = AckQueue(maxRequests: 9, maxBytes: 1 << 20, budget: self.budget)
            let requests = try (1...2).map { try AdmittedRequest.empty($0) }
            for request in requests { _ = queue.begin(request, bytes: 100) }
            queue.settled([requests[0]])
            #expect(self.budget.bytesInFlight == 200)
        }
        #expect(self.budget.bytesInFlight == 0)
    }

    @Test("what is refused counts with the words that its client is told, not by its two bytes")
    func refusals() throws {
        let bytes: [UInt8] = [0x08, 1] + Array([[0x12, 0], [0x12, 0], [0x12, 0]].joined())
        let admission = Admission()
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: 0)
        }
        #expect(request.refusals.count == 3)
        let queue = AckQueue(maxRequests: 9, maxBytes: 1 << 20, budget: self.budget)
        _ = queue.begin(request, bytes: bytes.count)
        #expect(self.budget.bytesInFlight == bytes.count + 3 * AdmittedRequest.refusalBytes)
    }

    @Test("a unary call's request counts until its answer is encoded, or given up")
    func recordAnswers() throws {
        let request = try AdmittedRequest.empty(1)
        let answer = RecordAnswer(request, requestBytes: 100, budget: self.budget)
        #expect(self.budget.bytesInFlight == 100)
        let serializer = RecordAnswerSerializer()
        let bytes: [UInt8] = try serializer.serialize(answer)
        #expect(try Sightline_V1_RecordEventsResponse(serializedBytes: bytes).hasTally)
        #expect(self.budget.bytesInFlight == 0)
        #expect(throws: RPCError.self) { try serializer.serialize(answer) as [UInt8] }
        do {
            let unused = RecordAnswer(request, requestBytes: 200, budget: self.budget)
            #expect(self.budget.bytesInFlight == 200)
            withExtendedLifetime(unused) {}
        }
        #expect(self.budget.bytesInFlight == 0)
    }
}
