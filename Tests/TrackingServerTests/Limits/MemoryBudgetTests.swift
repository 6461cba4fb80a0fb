// The bytes in flight: when calls are refused, when reading stops, whose share that is, and that
// every waiter is woken.
internal import GRPCCore
@testable internal import HTTP2Edge
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct MemoryBudgetTests {
    private let budget: MemoryBudget
    /// The share of a lone connection.
    private let memory: MemoryShare

    init() {
        self.budget = MemoryBudget(hardBytes: 1000, softPercent: 80)
        self.memory = self.budget.share(of: "default")
    }

    @Test(
        "at each limit all goes on, one byte beyond it does not",
        arguments: [
            (0, false, false), (800, false, false), (801, true, false), (1000, true, false),
            (1001, true, true),
        ])
    func limits(_ bytes: Int, _ isNearlyFull: Bool, _ isFull: Bool) {
        self.memory.add(bytes)
        #expect(self.memory.isNearlyFull == isNearlyFull)
        #expect(self.memory.isFull == isFull)
        self.memory.remove(bytes)
        #expect(self.budget.bytesInFlight == 0)
    }

    @Test("the soft limit is a share of the hard", arguments: [(1, 10), (80, 800), (100, 1000)])
    func softShare(_ percent: Int, _ bytes: Int) {
        let budget = MemoryBudget(hardBytes: 1000, softPercent: percent)
        let memory = budget.share(of: "default")
        memory.add(bytes)
        #expect(!memory.isNearlyFull)
        memory.add(1)
        #expect(memory.isNearlyFull)
    }

    @Test("a tenant that leaves no answer read leaves another its half of the memory")
    func tenants() {
        let loud = (0..<3).map { _ in self.budget.share(of: "loud") }
        loud[0].add(1001)
        for share in loud.dropFirst() { share.add(200) }
        #expect(loud.allSatisfy { $0.isFull && $0.isNearlyFull })
        let quiet = self.budget.share(of: "quiet")
        #expect(!quiet.isNearlyFull)
        quiet.add(400)
        #expect(!quiet.isNearlyFull)
        quiet.add(1)
        #expect(quiet.isNearlyFull && !quiet.isFull)
        quiet.add(99)
        #expect(!quiet.isFull)
        quiet.add(1)
        #expect(quiet.isFull)
        // A further connection of the loud one has a quarter of its fourth part.
        let late = self.budget.share(of: "loud")
        #expect(!late.isFull && !late.isNearlyFull)
        late.add(31)
        #expect(!late.isFull)
        late.add(1)
        #expect(late.isFull)
    }

    @Test("whoever waits goes on once there is room, all of them")
    func waits() async {
        self.memory.add(1100)
        let waiters = (0..<10).map { _ in Task.immediate { await self.memory.waitForRoom() } }
        self.memory.remove(99)
        #expect(self.memory.isFull)
        self.memory.remove(1)
        for waiter in waiters { await waiter.value }
        #expect(self.budget.bytesInFlight == 1000)
    }

    @Test("who waits for room goes on as soon as others leave it some, and not before")
    func waitsForOthers() async {
        let (loud, quiet) = (self.budget.share(of: "loud"), self.budget.share(of: "quiet"))
        loud.add(600)
        quiet.add(501)
        let waiter = Task.immediate { await quiet.waitForRoom() }
        loud.remove(100)
        #expect(quiet.isFull)
        loud.remove(1)
        await waiter.value
        #expect(!quiet.isFull && self.budget.bytesInFlight == 1000)
    }

    @Test("a wait ends when its task is cancelled")
    func cancelled() async {
        self.memory.add(1001)
        let waiter = Task.immediate { await self.memory.waitForRoom() }
        waiter.cancel()
        await waiter.value
        #expect(self.memory.isFull)
    }

    @Test("no wake-up gets lost between many that add, wait and remove", arguments: [1, 7])
    func manyAtOnce(_ tenants: Int) async {
        let budget = self.budget
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                let memory = budget.share(of: "tenant-\(number % tenants)")
                group.addTask {
                    for _ in 0..<200 {
                        memory.add(310)
                        await Task.yield()
                        memory.remove(300)
                        // All that wait hold half of the bytes: so one of the others wakes them.
                        await memory.waitForRoom()
                        memory.remove(10)
                    }
                }
            }
        }
        #expect(budget.bytesInFlight == 0)
    }

    @Test("a stream's requests count from when they are begun until their answer is taken")
    func answered() async throws {
        let queue = AckQueue(maxRequests: 9, maxBytes: 1 << 20, memory: self.memory)
        let requests = try (1...3).map { try AdmittedRequest.empty($0) }
        for request in requests { _ = queue.begin(request, bytes: 100) }
        let one = requests[0].heldBytes(requestBytes: 100)
        #expect(one >= 100)
        queue.settled([requests[0]])
        queue.settled([requests[1]])
        queue.commitEnded()
        #expect(self.budget.bytesInFlight == 3 * one)
        guard case .answer = await queue.waitForNextAction() else {
            Issue.record("no answer")
            return
        }
        #expect(self.budget.bytesInFlight == one)
    }

    @Test("what a stream has not answered when it is gone counts no longer")
    func gone() throws {
        do {
            let queue = AckQueue(maxRequests: 9, maxBytes: 1 << 20, memory: self.memory)
            let requests = try (1...2).map { try AdmittedRequest.empty($0) }
            for request in requests { _ = queue.begin(request, bytes: 100) }
            queue.settled([requests[0]])
            #expect(self.budget.bytesInFlight == 2 * requests[0].heldBytes(requestBytes: 100))
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
        let queue = AckQueue(maxRequests: 9, maxBytes: 1 << 20, memory: self.memory)
        _ = queue.begin(request, bytes: bytes.count)
        let violations = request.refusals.reduce(0) { $0 + $1.judgement.violations.count }
        #expect(violations == 3)
        let words =
            3 * AdmittedRequest.refusalBytes + violations * AdmittedRequest.violationBytes
        #expect(self.budget.bytesInFlight >= bytes.count + words)
    }

    @Test("what is accepted counts with its entries: a small event takes ten times its bytes")
    func entries() throws {
        // The smallest event that is accepted.
        let event: [UInt8] = [0x30, 1, 0x5a, 9, 0x0a, 2, 0x68, 0x31, 0x12, 1, 0x31, 0x18, 2]
        let bytes = [0x08, 1] + Array(repeatElement([0x12, 13] + event, count: 100).joined())
        let request = bytes.withUnsafeBytes { buffer in
            Admission().admit(
                Admission().read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: 0)
        }
        #expect(request.acceptedEvents.count == 100)
        let rows = 100 * MemoryLayout<AcceptedEvent>.stride + request.entries.count
        #expect(rows > 8 * bytes.count)
        #expect(request.heldBytes(requestBytes: bytes.count) >= bytes.count + rows)
    }

    @Test("a unary call's request counts until its answer is encoded, or given up")
    func recordAnswers() throws {
        let request = try AdmittedRequest.empty(1)
        let answer = RecordAnswer(request, requestBytes: 100, memory: self.memory)
        #expect(self.budget.bytesInFlight == request.heldBytes(requestBytes: 100))
        let serializer = RecordAnswerSerializer()
        let bytes: [UInt8] = try serializer.serialize(answer)
        #expect(try Sightline_V1_RecordEventsResponse(serializedBytes: bytes).hasTally)
        #expect(self.budget.bytesInFlight == 0)
        #expect(throws: RPCError.self) { try serializer.serialize(answer) as [UInt8] }
        do {
            let unused = RecordAnswer(request, requestBytes: 200, memory: self.memory)
            #expect(self.budget.bytesInFlight == request.heldBytes(requestBytes: 200))
            withExtendedLifetime(unused) {}
        }
        #expect(self.budget.bytesInFlight == 0)
    }
}
