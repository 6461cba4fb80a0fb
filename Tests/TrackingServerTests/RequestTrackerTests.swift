// The contents and the timing of a stream's answers: the tracker as a value.
internal import ServerTestSupport
internal import TestSupport
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

struct RequestTrackerTests {
    private func tracker(requests: Int = 64, bytes: Int = 1 << 20) -> RequestTracker {
        RequestTracker(maxRequests: requests, maxBytes: bytes)
    }

    @Test("the watermark never runs ahead of an unsettled request")
    func watermark() throws {
        var tracker = self.tracker()
        let requests = try (1...3).map { try AdmittedRequest.empty($0) }
        for request in requests { tracker.begin(request, bytes: 10) }
        tracker.settle(requests[1])
        tracker.settle(requests[2])
        #expect(tracker.durableSequence == 0 && !tracker.hasAnswer && !tracker.isIdle)
        tracker.settle(requests[0])
        let taken = tracker.takeAnswer()
        let answer = try #require(taken)
        #expect(answer.durableSequence == 3)
        #expect(answer.requests.map(\.sequence) == [1, 2, 3])
        #expect(tracker.isIdle && !tracker.hasAnswer)
    }

    @Test("a stream has its room in requests: full at the limit, not one below it")
    func roomInRequests() throws {
        var tracker = self.tracker(requests: 2)
        let requests = try (1...2).map { try AdmittedRequest.empty($0) }
        tracker.begin(requests[0], bytes: 1)
        #expect(tracker.hasRoom)
        tracker.begin(requests[1], bytes: 1)
        #expect(!tracker.hasRoom)
        tracker.settle(requests[0])
        #expect(tracker.hasRoom)
    }

    @Test(
        "a stream has its room in bytes: full at the limit, not one below it",
        arguments: [(bytes: 99, hasRoom: true), (100, false), (101, false)])
    func roomInBytes(_ row: (bytes: Int, hasRoom: Bool)) throws {
        var tracker = self.tracker(bytes: 100)
        let first = try AdmittedRequest.empty(1)
        let second = try AdmittedRequest.empty(2)
        tracker.begin(first, bytes: 50)
        tracker.begin(second, bytes: row.bytes - 50)
        #expect(tracker.hasRoom == row.hasRoom)
        tracker.settle(first)
        #expect(tracker.hasRoom)
    }

    @Test("a request that is settled out of order still takes its room")
    func roomOutOfOrder() throws {
        var tracker = self.tracker(requests: 2)
        let requests = try (1...2).map { try AdmittedRequest.empty($0) }
        for request in requests { tracker.begin(request, bytes: 1) }
        tracker.settle(requests[1])
        #expect(!tracker.hasRoom)
    }

    @Test("an idle stream always has room for one request, whatever its size and the limits")
    func roomWhenIdle() throws {
        var tracker = self.tracker(requests: 1, bytes: 1)
        #expect(tracker.hasRoom)
        let request = try AdmittedRequest.empty(1)
        tracker.begin(request, bytes: 1 << 20)
        #expect(!tracker.hasRoom)
        tracker.settle(request)
        #expect(tracker.hasRoom)
    }

    @Test("a client that leaves two windows unread is not read until it takes an answer")
    func roomOfTheUnanswered() throws {
        var tracker = self.tracker(requests: 2)
        for sequence in 1...4 as ClosedRange<UInt64> {
            #expect(tracker.hasRoom)
            let request = try AdmittedRequest.empty(sequence)
            tracker.begin(request, bytes: 10)
            tracker.settle(request)
        }
        #expect(!tracker.hasRoom && tracker.heldBytes == 40)
        let answer = tracker.takeAnswer()
        #expect(answer?.bytes == 40)
        #expect(tracker.hasRoom && tracker.heldBytes == 0)
    }

    @Test(
        "unread requests count in bytes too: full at the limit, not one below it",
        arguments: [(bytes: 99, hasRoom: true), (100, false)])
    func unansweredBytes(_ row: (bytes: Int, hasRoom: Bool)) throws {
        var tracker = self.tracker(bytes: 100)
        for bytes in [50, row.bytes - 50] {
            let request = try AdmittedRequest.empty(UInt64(bytes))
            tracker.begin(request, bytes: bytes)
            tracker.settle(request)
        }
        #expect(tracker.hasRoom == row.hasRoom)
    }

    @Test("a malformed request is answered, and its number moves nothing")
    func malformed() throws {
        var tracker = self.tracker()
        let good = try AdmittedRequest.empty(1)
        let bad = try AdmittedRequest.malformed(900)
        #expect(bad.sequence == 900 && bad.violation?.code == .malformed)
        tracker.begin(good, bytes: 1)
        tracker.begin(bad, bytes: 1)
        tracker.settle(good)
        tracker.settle(bad)
        let taken = tracker.takeAnswer()
        let answer = try #require(taken)
        #expect(answer.durableSequence == 1)
        #expect(answer.requests.map(\.sequence) == [1, 900])
    }

    @Test("a request that never began, or is settled already, changes nothing")
    func strangers() throws {
        var tracker = self.tracker()
        let request = try AdmittedRequest.empty(1)
        tracker.settle(request)
        #expect(!tracker.hasAnswer && tracker.durableSequence == 0)
        tracker.begin(request, bytes: 1)
        tracker.settle(request)
        tracker.settle(request)
        let taken = tracker.takeAnswer()
        #expect(taken?.requests.count == 1)
    }

    @Test("a random walk answers everything that began exactly once, in order", arguments: 1...40)
    func randomWalk(seed: UInt64) throws {
        var chance = Dice(seed: seed)
        var tracker = self.tracker(requests: 5, bytes: 300)
        var unsettled: [AdmittedRequest] = []
        var began: [AdmittedRequest] = []
        var answered: [AdmittedRequest] = []
        func take() {
            guard let answer = tracker.takeAnswer() else { return }
            answered += answer.requests
            let lowest = unsettled.map(\.sequence).min() ?? .max
            #expect(answer.durableSequence < lowest)
            #expect(answer.durableSequence == answer.requests.last?.sequence)
        }
        while began.count < 200 || !unsettled.isEmpty {
            switch Int.random(in: 0..<3, using: &chance) {
            case 0 where tracker.hasRoom && began.count < 200:
                let request = try AdmittedRequest.empty(UInt64(began.count + 1))
                tracker.begin(request, bytes: Int.random(in: 1...100, using: &chance))
                began.append(request)
                unsettled.append(request)
                #expect(unsettled.count <= 5)
            case 1 where !unsettled.isEmpty:
                let index = Int.random(in: unsettled.indices, using: &chance)
                tracker.settle(unsettled.remove(at: index))
            default: take()
            }
        }
        take()
        #expect(answered.map(\.sequence) == began.map(\.sequence))
        #expect(tracker.isIdle && tracker.hasRoom)
    }
}
