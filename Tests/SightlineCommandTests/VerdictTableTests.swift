// The table at the end of `send`.
internal import SightlineClient
internal import SightlineProtos
internal import Testing
internal import sightline

struct VerdictTableTests {
    private func outcome(
        _ verdict: Sightline_V1_Verdict, id: String = "e", line: Int? = nil,
        violations: [(field: String, code: Sightline_V1_ViolationCode)] = []
    ) -> EventOutcome {
        var result = Sightline_V1_EventResult()
        result.verdict = verdict
        result.eventID = id
        result.violations = violations.map { field, code in
            var violation = Sightline_V1_FieldViolation()
            violation.field = field
            violation.code = code
            violation.description_p = "it is needed"
            return violation
        }
        return EventOutcome(origin: EventOrigin(file: "f", line: line), result: result)
    }

    @Test("verdicts that occurred are counted, in the contract's order")
    func counts() {
        var table = VerdictTable()
        for verdict: Sightline_V1_Verdict in [.duplicate, .accepted, .suppressedFlagOff, .accepted]
        {
            table.add(self.outcome(verdict))
        }
        #expect(
            table.lines() == [
                "verdict              events",
                "ACCEPTED                  2",
                "SUPPRESSED_FLAG_OFF       1",
                "DUPLICATE                 1",
                "total                     4",
            ])
    }

    @Test("a verdict of a newer server is counted too")
    func unknownVerdict() {
        var table = VerdictTable()
        table.add(self.outcome(.UNRECOGNIZED(77)))
        #expect(table.lines().contains("VERDICT_77       1"))
    }

    @Test("a rejection names file, line, event, field, rule and reason, and drives no terminal")
    func rejection() {
        var table = VerdictTable()
        let violations: [(field: String, code: Sightline_V1_ViolationCode)] = [
            ("push.apns.delivery_id", .required), ("push.apns.message_id", .required),
        ]
        table.add(self.outcome(.rejected, id: "a\u{1B}[2J", line: 7, violations: violations))
        let lines = table.lines()
        #expect(lines.contains("rejected (1):"))
        let expected =
            "f:7    a\\u{1b}[2J  push.apns.delivery_id  REQUIRED  it is needed"
        #expect(lines.contains(expected))
        #expect(lines.filter { $0.hasPrefix("f:7") }.count == 2)
    }

    @Test("twenty rejections are shown, and the rest counted", arguments: [20, 21])
    func manyRejections(count: Int) {
        var table = VerdictTable()
        for number in 0..<count {
            table.add(self.outcome(.rejected, id: "e\(number)"))
        }
        let lines = table.lines()
        #expect(lines.filter { $0.contains("gave no reason") }.count == 20)
        let heading = count == 20 ? "rejected (20):" : "rejected (21, the first 20):"
        #expect(lines.contains(heading))
    }
}
