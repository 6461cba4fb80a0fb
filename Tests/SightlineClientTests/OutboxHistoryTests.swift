// The state machine keeps its word in random histories, and the histories find planted bugs.
internal import TestSupport
internal import Testing

struct OutboxHistoryTests {
    @Test("every event gets its own verdict, whatever the server and the link do")
    func histories() {
        for number in 0..<400 {
            let seed = Dice.runSeed &+ UInt64(number)
            #expect(throws: Never.self, "seed \(seed)") {
                var history = OutboxHistory(seed: seed)
                try history.run()
            }
        }
    }

    @Test("a client with a bug breaks a rule", arguments: OutboxHistory.Plant.allCases)
    func plants(_ plant: OutboxHistory.Plant) {
        let isFound = (0..<400).contains { number in
            do {
                var history = OutboxHistory(seed: Dice.runSeed &+ UInt64(number), plant: plant)
                try history.run()
                return false
            } catch {
                return true
            }
        }
        #expect(isFound)
    }
}
