// When compressed messages are inflated: batches, turns and rests, event by event.
internal import Testing

@testable internal import HTTP2Edge

struct InflationTurnsTests {
    /// What happens, and what comes of it.
    enum Event {
        case receive(isEnd: Bool)
        case demand
        case begins(Bool)
        case next(InflationTurns.Step?)
        case take(Int)
        case starve(hasRest: Bool, endIsDue: Bool)
        case endRest
        case needsBytes(Bool)
    }

    private func check(_ events: [Event]) {
        var turns = InflationTurns()
        for (index, event) in events.enumerated() {
            switch event {
            case .receive(let isEnd): turns.receive(isEnd: isEnd)
            case .demand: turns.receiveDemand()
            case .begins(let begins): #expect(turns.begin() == begins, "at \(index)")
            case .next(let step): #expect(turns.next() == step, "at \(index)")
            case .take(let bytes): turns.take(bytes)
            case .starve(let hasRest, let endIsDue):
                #expect(turns.starve(hasRest: hasRest) == endIsDue, "at \(index)")
            case .endRest: turns.endRest()
            case .needsBytes(let needs): #expect(turns.needsBytes == needs, "at \(index)")
            }
        }
    }

    private static let rows: [(name: String, events: [Event])] = [
        (
            "without demand nothing is inflated",
            [.needsBytes(false), .begins(true), .next(nil), .needsBytes(false)]
        ),
        (
            "bytes that came are inflated at once, and a batch ends with them",
            [
                .receive(isEnd: false), .begins(true), .next(.inflate), .take(10),
                .next(.inflate), .starve(hasRest: true, endIsDue: false),
                .next(.endBatch(rests: false)), .next(nil), .needsBytes(false), .begins(true),
            ]
        ),
        (
            "a batch ends with the message that fills it, and the next one needs demand",
            [
                .receive(isEnd: false), .begins(true),
                .next(.inflate), .take(InflationTurns.batchBytes - 1), .next(.inflate), .take(1),
                .next(.endBatch(rests: false)), .demand, .next(.inflate),
                .take(InflationTurns.batchBytes), .next(.endBatch(rests: false)), .next(nil),
            ]
        ),
        (
            "demand that no message meets needs bytes, after the turn",
            [
                .demand, .needsBytes(true), .begins(true), .needsBytes(false), .next(.inflate),
                .starve(hasRest: false, endIsDue: false), .next(nil), .needsBytes(true),
            ]
        ),
        (
            "the half-close comes once, in a batch of its own behind all messages",
            [
                .receive(isEnd: true), .begins(true), .next(.inflate), .take(10), .next(.inflate),
                .starve(hasRest: false, endIsDue: false), .next(.endBatch(rests: false)),
                .next(nil), .demand, .begins(true), .next(.inflate),
                .starve(hasRest: false, endIsDue: true), .next(.endBatch(rests: false)), .demand,
                .next(.inflate), .starve(hasRest: false, endIsDue: false), .next(nil),
            ]
        ),
        (
            "after a turn the stream rests, and demand waits",
            [.receive(isEnd: false), .begins(true)]
                + [[Event]](
                    repeating: [
                        .next(.inflate), .take(InflationTurns.batchBytes),
                        .next(.endBatch(rests: false)), .demand,
                    ], count: 3
                ).flatMap(\.self)
                + [
                    .next(.inflate), .take(InflationTurns.batchBytes),
                    .next(.endBatch(rests: true)), .demand, .next(nil), .begins(false),
                    .needsBytes(false), .endRest, .needsBytes(true), .begins(true),
                    .next(.inflate),
                ]
        ),
        (
            "a turn begins once",
            [.demand, .begins(true), .begins(false), .next(.inflate), .begins(false)]
        ),
    ]

    @Test("the turns of a compressed stream", arguments: Self.rows.indices)
    func turns(_ row: Int) { self.check(Self.rows[row].events) }

    @Test("an empty message costs 128 bytes")
    func emptyMessages() {
        var turns = InflationTurns()
        turns.receive(isEnd: false)
        let begins = turns.begin()
        #expect(begins)
        var count = 0
        while turns.next() == .inflate {
            turns.take(0)
            count += 1
        }
        #expect(count == InflationTurns.batchBytes / 128 && turns.count == count)
    }

    @Test("a stream is starved while a message has begun that is not whole")
    func starved() {
        var turns = InflationTurns()
        #expect(!turns.isStarved)
        for (hasRest, isStarved) in [(false, false), (true, true)] {
            _ = turns.starve(hasRest: hasRest)
            #expect(turns.isStarved == isStarved)
        }
        turns.receive(isEnd: false)
        #expect(turns.isStarved, "until it is inflated")
        turns.take(1)
        #expect(!turns.isStarved && turns.count == 1)
    }
}
