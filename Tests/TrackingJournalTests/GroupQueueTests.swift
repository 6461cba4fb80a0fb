// Which requests form the next group, of those that have arrived and those that are left.
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct GroupQueueTests {
    /// A stream, which notes nothing.
    private final class Stream: SettlementReceiver {
        func settled(_ requests: [AdmittedRequest]) {}
        func commitEnded() {}
    }

    /// A request of so many events, submitted by itself.
    private static func submission(
        _ sequence: Int, events: Int = 1, of tenant: String = "default", _ stream: Stream
    ) -> Journal.Submission {
        let ids = (0..<events).map { sequence * 1000 + $0 }
        return Journal.Submission(
            requests: [.impressions(ids, sequence: sequence, tenant: tenant)], receiver: stream)
    }

    private static func sequences(_ group: [Journal.Submission]) -> [UInt64] {
        group.flatMap(\.requests).map(\.sequence)
    }

    @Test("what fits into a group is one, in the order of its arrival, whoever sent it")
    func fits() {
        let streams = (0..<3).map { _ in Stream() }
        let arrived = (1...9).map { Self.submission($0, of: "tenant-\($0 % 2)", streams[$0 % 3]) }
        // The last one may exceed the limit.
        let limit = arrived.dropLast().reduce(0) { $0 + $1.groupBytes }
        var queue = GroupQueue()
        let group = queue.takeGroup(adding: arrived, upTo: limit)
        #expect(Self.sequences(group) == Array(1...9) && queue.isEmpty)
        // One byte less, and the last one is left.
        let less = queue.takeGroup(adding: arrived, upTo: limit - 1)
        #expect(less.count == 8 && !queue.isEmpty)
        let rest = queue.takeGroup(adding: [], upTo: limit)
        #expect(rest.count == 1 && queue.isEmpty)
        #expect(Set(Self.sequences(less + rest)) == Set(1...9))
    }

    @Test(
        "a single event is in the next group, whatever waits: another tenant's, or another stream's",
        arguments: ["quiet", "loud"])
    func neighbour(_ tenant: String) {
        let streams = (0..<5).map { _ in Stream() }
        let backlog = (0..<64).flatMap { number in
            (0..<4).map {
                Self.submission(number * 4 + $0 + 1, events: 50, of: "loud", streams[$0])
            }
        }
        let limit = backlog[0].groupBytes * 3
        var queue = GroupQueue()
        var taken = queue.takeGroup(adding: backlog, upTo: limit)
        for sequence in [1001, 1002] {
            let single = Self.submission(sequence, of: tenant, streams[4])
            let group = queue.takeGroup(adding: [single], upTo: limit)
            #expect(Self.sequences(group).first == UInt64(sequence))
            #expect(group.dropLast().reduce(0) { $0 + $1.groupBytes } <= limit)
            taken += group
        }
        while !queue.isEmpty { taken += queue.takeGroup(adding: [], upTo: limit) }
        #expect(taken.count == backlog.count + 2)
        // Each stream's requests are in their order.
        for stream in streams {
            let own = Self.sequences(taken.filter { $0.receiver === stream })
            #expect(own == own.sorted())
        }
    }

    @Test("whatever arrives, nothing is lost or doubled, and no stream's order changes")
    func walk() {
        var dice = Dice(seed: Dice.runSeed)
        let streams = (0..<12).map { _ in Stream() }
        var queue = GroupQueue()
        var (last, sent, taken) = (0, 0, [[UInt64]](repeating: [], count: streams.count))
        for turn in 0..<300 {
            let arrived = (0..<(turn < 250 ? dice.below(6) : 0)).map { _ in
                last += 1
                let stream = dice.below(streams.count)
                return Self.submission(
                    last, events: dice.below(8), of: "tenant-\(stream % 3)", streams[stream])
            }
            sent += arrived.count
            for submission in queue.takeGroup(adding: arrived, upTo: 3000) {
                let stream = streams.firstIndex { $0 === submission.receiver }
                taken[stream ?? 0] += submission.requests.map(\.sequence)
            }
        }
        #expect(queue.isEmpty, "seed \(Dice.runSeed)")
        #expect(taken.joined().count == sent, "seed \(Dice.runSeed)")
        for sequences in taken {
            #expect(sequences == Array(Set(sequences)).sorted(), "seed \(Dice.runSeed)")
        }
    }
}
