// D18: the warnings of the window, which never refuses an event.
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

struct FunnelWarningTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Events in order, and the expected warning about the last one.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let events: [TestEvent]
        let warning: Warnings

        init(_ name: String, _ events: [TestEvent], _ warning: Warnings = []) {
            self.name = name
            self.events = events
            self.warning = warning
        }

        var testDescription: String { self.name }
    }

    @Test(
        "D18: the funnel's odd orders are warned of and accepted",
        arguments: [
            Row("an open alone", [TestEvents.action(.open, id: 1)], .openWithoutClick),
            Row(
                "another notification's click",
                [TestEvents.action(.click, id: 2), TestEvents.action(.open, id: 1)],
                .openWithoutClick),
            Row(
                "a click, then an open",
                [TestEvents.action(.click, id: 1), TestEvents.action(.open, id: 1)]),
            Row("an opened notification", [TestEvents.push(.opened, id: 1)]),
            Row(
                "a dismissal, then opened",
                [TestEvents.push(.dismissed, id: 1), TestEvents.push(.opened, id: 1)],
                .openAfterDismiss),
            Row(
                "a click, then an impression",
                [TestEvents.action(.click, id: 1), TestEvents.impression(1)],
                .impressionAfterClick),
            Row(
                "a dismissal, then an impression",
                [TestEvents.push(.dismissed, id: 1), TestEvents.push(.received, id: 1)],
                .impressionAfterClick),
            Row(
                "a button, then an impression of the plain notification",
                [
                    TestEvents.push(.opened, id: 1, button: "yes"),
                    TestEvents.push(.received, id: 1),
                ], .impressionAfterClick),
            Row(
                "a button, then the plain open",
                [TestEvents.push(.opened, id: 1, button: "yes"), TestEvents.action(.open, id: 1)]),
            Row(
                "a dismissal, then a button",
                [
                    TestEvents.push(.dismissed, id: 1),
                    TestEvents.push(.opened, id: 1, button: "yes"),
                ], .openAfterDismiss),
        ])
    func order(row: Row) async throws {
        let funnel: Warnings = [.openWithoutClick, .openAfterDismiss, .impressionAfterClick]
        // In one request, in separate commits, and with a restart in between.
        let together = AdmittedRequest.of(row.events)
        let journal = try Journal.open(self.directory, folder: "together")
        await journal.commit(together)
        #expect(together.verdicts.last == .accepted)
        #expect(together.warnings.last?.intersection(funnel) == row.warning)
        await journal.close()

        for (position, event) in row.events.enumerated() {
            let journal = try Journal.open(self.directory)
            let request = await journal.commit(AdmittedRequest.of([event]))
            #expect(request.verdicts == [.accepted])
            if position == row.events.count - 1 {
                #expect(request.warnings.last?.intersection(funnel) == row.warning)
                try await self.expect(row.warning, ofLastHitIn: journal, outOf: funnel)
            }
            await journal.close()
        }
    }

    /// The warning also reaches the sinks.
    private func expect(
        _ warning: Warnings, ofLastHitIn journal: Journal, outOf funnel: Warnings
    ) async throws {
        let batch = try #require(try await journal.batch(after: journal.lastSequence - 1))
        var seen: Warnings = []
        try batch.payload.withUnsafeBytes { payload in
            try HitEncoding.forEachHit(in: payload) { seen = $0.warnings.intersection(funnel) }
        }
        #expect(seen == warning)
    }

    @Test("D18: a duplicate is not warned of")
    func duplicate() async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1), TestEvents.action(.click, id: 1))
        let again = await journal.commit(AdmittedRequest.impressions([1]))
        #expect(again.verdicts == [.duplicate])
        #expect(again.warnings.last?.contains(.impressionAfterClick) == false)
        await journal.close()
    }
}
