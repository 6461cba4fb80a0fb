// The judge's rules, each on a course that keeps it and one that breaks it.
internal import SightlineProtos
internal import Testing
@testable internal import ClientConformance

struct JudgeTests {
    /// A course without a fault: a and b are accepted, one after the other.
    private func course(_ change: (inout Scenario) -> Void = { _ in }) -> TestTranscript {
        var course = TestTranscript(["a", "b"], change)
        course.open()
        course.send(1, ["a"])
        course.answer(1, [("a", .accepted)])
        course.say("a")
        course.send(2, ["b"])
        course.answer(2, [("b", .accepted)])
        course.say("b")
        return course
    }

    @Test("a client that keeps the contract gives no finding")
    func right() {
        var course = self.course()
        course.finish()
        #expect(course.findings == [])
    }

    @Test(
        "a sequence is 1 or more, and rises",
        arguments: [
            ([1, 2, 9], 0), ([0], 1), ([1, 1], 1), ([3, 2], 1), ([3, 2, 4], 1), ([3, 2, 3], 2),
        ] as [([UInt64], Int)])
    func sequences(sequences: [UInt64], faults: Int) {
        var course = TestTranscript([])
        course.open()
        for sequence in sequences { course.send(sequence, []) }
        let judge = course.faults.filter { $0.contains("sequence") }
        #expect(judge.count == (faults == 0 ? 0 : 1))
        #expect(judge.first?.hasSuffix("(and 1 times more)") == (faults == 0 ? nil : faults == 2))
    }

    @Test("an event_id that nobody gave to the client, and a changed event, are found")
    func foreign() {
        for (id, words) in [("x", "no event of its input has"), ("a", "changed the event a")] {
            var course = self.course()
            course.open(1)
            course.send(1, [id], on: 1, foreign: [id])
            course.finish(1)
            #expect(course.faults.contains { $0.contains(words) })
        }
    }

    /// Three requests on a stream that ends without an answer, and then these on the next one.
    private func resent(_ ids: [String], later: [String] = []) -> [String] {
        var course = TestTranscript(["a", "b", "c", "d"])
        course.open()
        for (index, id) in ["a", "b", "c"].enumerated() { course.send(UInt64(index + 1), [id]) }
        if !later.isEmpty {
            course.answer(3, later.map { ($0, .retryLater) }, delay: .zero)
        }
        course.note(.ended(stream: 0, .cut))
        course.open(1)
        for (index, id) in ids.enumerated() { course.send(UInt64(index + 1), [id], on: 1) }
        return course.faults.filter { $0.contains("came before") }
    }

    @Test("what a stream left comes first on the next one, in its order")
    func order() {
        #expect(self.resent(["a", "b", "c", "d"]) == [])
        #expect(self.resent(["a", "b"]) == [])
        #expect(self.resent(["a", "c", "b", "d"]).count == 1)
        #expect(self.resent(["a", "b", "d", "c"]).first?.contains("d came before c") == true)
        #expect(self.resent(["b", "a", "c"]).first?.contains("b came before a") == true)
    }

    @Test("an event with RETRY_LATER has no place in the order")
    func orderOfRetries() {
        #expect(self.resent(["d", "b", "c", "a"], later: ["a", "b", "c"]) == [])
        #expect(self.resent(["b", "a", "c"], later: ["b"]) == [])
    }

    @Test("an event comes again after RETRY_LATER alone")
    func resends() {
        for (verdict, count) in [
            (.rejected, 1), (.accepted, 1), (.UNRECOGNIZED(42), 1), (.retryLater, 0),
        ] as [(Sightline_V1_Verdict, Int)] {
            var course = TestTranscript(["a"])
            course.open()
            course.send(1, ["a"])
            course.answer(1, [("a", verdict)], delay: verdict == .retryLater ? .zero : nil)
            course.send(2, ["a"])
            #expect(course.faults.filter { $0.contains("again on stream 1") }.count == count)
        }
    }

    @Test("an event whose verdict was told is not sent on a later stream")
    func resendAfterVerdict() {
        var course = self.course()
        course.note(.ended(stream: 0, .cut))
        course.open(1)
        course.send(1, ["a"], on: 1)
        #expect(course.faults.contains { $0.contains("after it had told the verdict ACCEPTED") })
    }

    @Test("RETRY_LATER's delay is waited for, to the millisecond", arguments: [(389, 1), (390, 0)])
    func retryDelay(wait: Int, count: Int) {
        var course = TestTranscript(["a"])
        course.open()
        course.send(1, ["a"])
        course.answer(1, [("a", .retryLater)], delay: .milliseconds(400))
        course.pass(.milliseconds(wait))
        course.send(2, ["a"])
        #expect(course.faults.filter { $0.contains("retry_delay") }.count == count)
    }

    @Test(
        "limits hold from the first verdict on, and not one beyond",
        arguments: [(5, 100, 0), (6, 100, 1), (5, 65536, 0), (5, 65537, 1)])
    func limits(events: Int, bytes: Int, count: Int) {
        var course = self.course()
        course.send(3, Array(repeating: "b", count: events), bytes: bytes)
        #expect(
            course.faults.filter { $0.contains("_events was") || $0.contains("_bytes was") }
                .count == count)
    }

    @Test(
        "a request too many under way is found, before the first verdict none", arguments: [8, 9])
    func underWay(requests: Int) {
        for isKnown in [true, false] {
            var course = isKnown ? self.course() : TestTranscript([])
            if !isKnown { course.open() }
            for number in 0..<requests { course.send(UInt64(number + 3), []) }
            let found = course.faults.filter { $0.contains("max_unacknowledged_requests was 8") }
            #expect(found.isEmpty == (requests == 8 || !isKnown))
        }
    }
}
