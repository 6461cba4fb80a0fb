// The judge's rules on verdicts, streams' ends and reconnects.
internal import SightlineProtos
internal import Testing
@testable internal import ClientConformance

struct JudgeEndsTests {
    private func opened(
        _ ids: [String] = ["a"], _ change: (inout Scenario) -> Void = { _ in }
    ) -> TestTranscript {
        var course = TestTranscript(ids, change)
        course.open()
        course.send(1, ids)
        return course
    }

    @Test("a verdict is the server's, and comes after it")
    func verdicts() {
        for (told, said, words) in [
            (.accepted, .accepted, nil), (.duplicate, .duplicate, nil),
            (.rejected, .accepted, "told ACCEPTED on a, and the server had said REJECTED"),
            (nil, .accepted, "told ACCEPTED on a before any answer"),
            (.retryLater, .retryLater, "as if it were final"),
        ] as [(Sightline_V1_Verdict?, Sightline_V1_Verdict, String?)] {
            var course = self.opened()
            if let told { course.answer(1, [("a", told)]) }
            course.say("a", said)
            course.finish()
            #expect(course.faults.count == (words == nil ? 0 : 1))
            if let words { #expect(course.faults.first?.contains(words) == true) }
        }
    }

    @Test("of two answers either may be told: the first may be lost")
    func eitherVerdict() {
        for verdict in [Sightline_V1_Verdict.accepted, .duplicate] {
            var course = self.opened()
            course.answer(1, [("a", .accepted)])
            course.note(.ended(stream: 0, .cut))
            course.open(1)
            course.send(1, ["a"], on: 1)
            course.answer(1, [("a", .duplicate)], on: 1)
            course.say("a", verdict)
            course.finish(1)
            #expect(course.faults == [])
        }
    }

    @Test("a verdict twice, on another's event, and a line that is none are found")
    func oddLines() {
        for (lines, words) in [
            ([.verdict(id: "a", .accepted)], "twice"),
            ([.verdict(id: "x", .accepted)], "which it was not given"),
            ([.unreadable("hello")], "no result in JSON: hello"),
        ] as [([ClientLine], String)] {
            var course = self.opened()
            course.answer(1, [("a", .accepted)])
            course.say("a")
            for line in lines { course.note(.said(line)) }
            course.finish()
            #expect(course.faults.count == 1 && course.faults[0].contains(words))
        }
    }

    @Test("an event without a verdict is told of as unacknowledged, or is lost")
    func losses() {
        var course = self.opened(["a", "b"]) { $0.isRefused = true }
        course.note(.ended(stream: 0, .status(.malformed)))
        var silent = course
        silent.note(.said(.unacknowledged(["b"])))
        silent.note(.exited(1))
        #expect(silent.faults.count == 1)
        #expect(silent.faults.first?.contains("no verdict on 1 event (first: a)") == true)
        #expect(silent.faults.first?.contains("had not sent 1 event (first: a) again") == true)
        course.note(.said(.unacknowledged(["a", "b"])))
        course.note(.exited(1))
        #expect(course.findings == [])
    }

    @Test("a success is no failure, and a verdict on what never came is found")
    func falseEnds() {
        var course = self.opened()
        course.answer(1, [("a", .duplicate)])
        course.note(.said(.unacknowledged(["a"])))
        course.finish()
        #expect(course.faults.contains { $0.contains("the server had said DUPLICATE") })
        var other = TestTranscript(["a"]) { $0.hasEarlyVerdicts = true }
        other.say("a")
        other.note(.exited(0))
        #expect(other.faults.contains { $0.contains("that never came") })
    }

    @Test(
        "an exit code says what has happened",
        arguments: [
            (0, false, 0), (1, false, 1), (nil, false, 1), (1, true, 0), (0, true, 1),
            (nil, true, 1),
        ] as [(Int32?, Bool, Int)])
    func exits(code: Int32?, isRefused: Bool, count: Int) {
        var course = TestTranscript([]) { $0.isRefused = isRefused }
        course.note(.exited(code))
        #expect(course.faults.count == count)
    }

    @Test("a stream is half-closed, and read until OK")
    func ends() {
        for (events, words) in [
            ([.halfClosed(stream: 0), .ended(stream: 0, .ok)], nil),
            ([.halfClosed(stream: 0), .ended(stream: 0, .client)], "before the server's OK"),
            ([.halfClosed(stream: 0)], "before the server's OK"),
            ([.ended(stream: 0, .client)], "without a half-close"), ([], "without a half-close"),
            ([.ended(stream: 0, .cut)], nil),
        ] as [([Transcript.Event], String?)] {
            var course = TestTranscript([])
            course.open()
            for event in events { course.note(event) }
            course.note(.exited(0))
            #expect(course.faults.count == (words == nil ? 0 : 1))
            if let words { #expect(course.faults.first?.contains(words) == true) }
        }
    }

    @Test("a stream that the server had to end after closing was not half-closed in its grace")
    func closing() {
        var course = TestTranscript([])
        course.open()
        course.note(
            .answered(stream: 0, Answer(watermark: 0, closingGrace: .seconds(2))))
        course.note(.ended(stream: 0, .status(.closing)))
        course.note(.exited(0))
        #expect(course.faults == ["It did not half-close stream 1 within the grace of 2000 ms"])
    }

    @Test("RetryInfo's delay is waited for, to the millisecond", arguments: [(489, 1), (490, 0)])
    func retryInfo(wait: Int, count: Int) {
        var course = TestTranscript([])
        course.note(.opened(stream: 0, hasKey: true))
        course.note(.ended(stream: 0, .status(.overloaded(.milliseconds(500)))))
        course.pass(.milliseconds(wait))
        course.open(1)
        course.finish(1)
        #expect(course.faults.count == count)
    }

    @Test("a client that is refused for good does not come again")
    func refusedForGood() {
        var course = TestTranscript([]) { $0.isRefused = true }
        for stream in 0..<3 {
            course.note(.opened(stream: stream, hasKey: true))
            course.note(.ended(stream: stream, .status(.credentials)))
        }
        course.note(.exited(1))
        #expect(course.faults.first?.contains("stream 2 again after unauthenticated") == true)
        #expect(course.faults.first?.hasSuffix("(and 1 times more)") == true)
    }

    @Test("connections in vain are counted within any second", arguments: [(10, 0), (11, 1)])
    func storms(count: Int, faults: Int) {
        var course = TestTranscript([])
        for _ in 0..<count { course.note(.connected(isAway: true)) }
        course.pass(.seconds(1))
        course.note(.connected(isAway: true))
        course.note(.exited(0))
        #expect(course.faults.count == faults)
    }

    @Test("a stream without the key is found where one is needed", arguments: [true, false])
    func keys(needsKey: Bool) {
        var course = TestTranscript([]) { $0.needsKey = needsKey }
        course.open(hasKey: false)
        course.finish()
        #expect(course.faults.count == (needsKey ? 1 : 0))
    }

    @Test("each section that a finding names is one of docs/clients.md")
    func sections() throws {
        let page = try Pages.text("clients.md")
        for section in Judge.sections { #expect(page.contains("\n## \(section)\n"), "\(section)") }
    }
}
