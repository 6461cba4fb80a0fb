// No crash and no power cut takes an event from a spool that it has promised to keep, or brings
// back one that was settled before its marks were synced.
internal import TestSupport
internal import Testing

struct SpoolHistoryTests {
    @Test("after crashes and power cuts what was promised is found, and what was settled is not")
    func histories() {
        for number in 0..<2000 {
            let seed = Dice.runSeed &+ UInt64(number)
            #expect(throws: Never.self, "seed \(seed)") {
                var history = try SpoolHistory(seed: seed)
                try history.run()
            }
        }
    }

    @Test(
        "a disk that does not do what it says is found out",
        arguments: ForgetfulDisk.Plant.allCases)
    func plants(_ plant: ForgetfulDisk.Plant) {
        let isFound = (0..<2000).contains { number in
            do {
                var history = try SpoolHistory(
                    seed: Dice.runSeed &+ UInt64(number), plant: plant)
                try history.run()
                return false
            } catch {
                return true
            }
        }
        #expect(isFound)
    }
}
