// Deduplication: what the window remembers, in memory and across restarts.
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

struct DuplicateWindowTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test("D17: of two that are under way together one is accepted and one is the duplicate")
    func oneGroup() async throws {
        let journal = try Journal.open(self.directory)
        let request = AdmittedRequest.impressions([1, 2, 1])
        #expect(await journal.commit(request).verdicts == [.accepted, .accepted, .duplicate])
        // Two requests of one group.
        let receiver = RecordingReceiver()
        let pair = [AdmittedRequest.impressions([3]), AdmittedRequest.impressions([3])]
        await journal.appendTogether(pair, for: receiver)
        #expect(pair.map(\.verdicts) == [[.accepted], [.duplicate]])
        await journal.close()
    }

    @Test("D17: two buttons of one notification are two facts, and so is the plain tap")
    func buttons() async throws {
        let journal = try Journal.open(self.directory)
        let taps = ["yes", "no", "", "yes"].map { TestEvents.push(.opened, id: 1, button: $0) }
        let verdicts = await journal.commit(AdmittedRequest.of(taps)).verdicts
        #expect(verdicts == [.accepted, .accepted, .accepted, .duplicate])
        await journal.close()
    }

    @Test("D47: of an opened notification whose click is known, only the open is new")
    func clickKnown() async throws {
        let journal = try Journal.open(self.directory)
        #expect(await journal.commit(TestEvents.action(.click, id: 1)) == [.accepted])
        let opened = AdmittedRequest.of([TestEvents.push(.opened, id: 1)])
        await journal.commit(opened)
        #expect(opened.acceptedEvents.map(\.granted) == [HitKinds(.open)])
        #expect(opened.verdicts == [.accepted])
        journal.finish()
        let batch = try #require(try await journal.batch(after: 1))
        #expect(try batch.kinds == [.open])
        #expect(await journal.commit(TestEvents.push(.opened, id: 1)) == [.duplicate])
        await journal.close()
    }

    @Test(
        "D47: what is a duplicate leaves nothing in the payload, its neighbours stay byte for byte")
    func payloadOfTheRest() async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(2))
        await journal.commit(AdmittedRequest.impressions(1...3))
        journal.finish()
        let batch = try #require(try await journal.batch(after: 1))
        #expect(batch.eventCount == 2)
        #expect(try batch.events == [1, 3].map { try TestEvents.impression($0).bytes() })
        await journal.close()
    }

    @Test("D17: a restart forgets nothing, also where the rows are delivered and deleted")
    func restart() async throws {
        for isDelivered in [false, true] {
            let journal = try Journal.open(self.directory)
            if isDelivered {
                #expect(journal.storedBytes > 0)
                journal.advance(sink: "a", to: journal.lastSequence)
                await journal.settle()
                #expect(journal.storedBytes == 0)
            } else {
                #expect(await journal.commit(TestEvents.impression(1)) == [.accepted])
            }
            await journal.close()
        }
        let journal = try Journal.open(self.directory)
        let verdicts = await journal.commit(AdmittedRequest.impressions([1, 2])).verdicts
        #expect(verdicts == [.duplicate, .accepted])
        await journal.close()
    }

    @Test("D17: a window of N knows the N newest facts and no more, also after a restart")
    func capacity() async throws {
        for isRestarted in [false, true] {
            let folder = "restarted-\(isRestarted)"
            var journal = try Journal.open(self.directory, folder: folder) { $0.windowCapacity = 8 }
            for id in 1...30 { await journal.commit(TestEvents.impression(id)) }
            if isRestarted {
                await journal.close()
                journal = try Journal.open(self.directory, folder: folder) { $0.windowCapacity = 8 }
            }
            let oldest = AdmittedRequest.impressions([22, 23])
            #expect(
                await journal.preview(oldest.acceptedEvents).map(\.granted.isEmpty) == [
                    false, true,
                ])
            await journal.close()
        }
    }

    @Test("D17: a fact that was marked twice takes one place of the window, also after a restart")
    func capacityOfFunnels() async throws {
        var journal = try Journal.open(self.directory) { $0.windowCapacity = 8 }
        for id in 1...20 {
            await journal.commit(TestEvents.impression(id))
            await journal.commit(TestEvents.push(.opened, id: id))
        }
        let acceptedEvents = AdmittedRequest.impressions(1...20).acceptedEvents
        let known = await journal.preview(acceptedEvents).map(\.granted.isEmpty)
        #expect(known == (1...20).map { $0 > 12 })
        await journal.close()
        journal = try Journal.open(self.directory) { $0.windowCapacity = 8 }
        #expect(await journal.preview(acceptedEvents).map(\.granted.isEmpty) == known)
        await journal.close()
    }

    @Test("D17: a fact marked again long after it came keeps its place, also after a restart")
    func capacityOfLateMarks() async throws {
        var journal = try Journal.open(self.directory) { $0.windowCapacity = 8 }
        for id in 1...8 { await journal.commit(TestEvents.impression(id)) }
        for id in 1...8 { await journal.commit(TestEvents.push(.opened, id: id)) }
        for id in 9...12 { await journal.commit(TestEvents.impression(id)) }
        let acceptedEvents = AdmittedRequest.impressions(1...12).acceptedEvents
        #expect(
            await journal.preview(acceptedEvents).map(\.granted.isEmpty) == (1...12).map { $0 > 4 })
        await journal.close()
        journal = try Journal.open(self.directory) { $0.windowCapacity = 8 }
        #expect(
            await journal.preview(acceptedEvents).map(\.granted.isEmpty) == (1...12).map { $0 > 4 })
        await journal.close()
    }

    @Test("D52: asking acceptedEvents nothing, neither in an empty window nor in a full one")
    func preview() async throws {
        let journal = try Journal.open(self.directory) { $0.windowCapacity = 4 }
        let new = AdmittedRequest.impressions([9])
        for _ in 0..<2 {
            #expect(await journal.preview(new.acceptedEvents).map(\.granted.isEmpty) == [false])
        }
        await journal.commit(AdmittedRequest.impressions(1...4))
        // Previewing accepted events evicts nothing, whether they are known or new.
        let acceptedEvents = AdmittedRequest.impressions([1, 5, 6, 7, 8, 5]).acceptedEvents
        for _ in 0..<2 {
            let granted = await journal.preview(acceptedEvents).map(\.granted.isEmpty)
            #expect(granted == [true, false, false, false, false, false])
        }
        let verdicts = await journal.commit(AdmittedRequest.impressions(1...4)).verdicts
        #expect(verdicts == [.duplicate, .duplicate, .duplicate, .duplicate])
        #expect(await journal.commit(new).verdicts == [.accepted])
        await journal.close()
    }
}

extension JournalBatch {
    /// The kinds of its hits, in order.
    var kinds: [HitKind] {
        get throws {
            var kinds: [HitKind] = []
            try self.payload.withUnsafeBytes { payload in
                try HitEncoding.forEachHit(in: payload) { kinds.append($0.kind) }
            }
            return kinds
        }
    }

    /// The events of its hits, byte for byte; an event with two hits occurs twice.
    var events: [[UInt8]] {
        get throws {
            var events: [[UInt8]] = []
            try self.payload.withUnsafeBytes { payload in
                try HitEncoding.forEachHit(in: payload) { events.append([UInt8]($0.event)) }
            }
            return events
        }
    }
}
