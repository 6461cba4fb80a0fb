// The labels of an in-app message: each up to the limit, and what is beyond it.
@testable internal import Delivery
internal import Testing

struct ClicksByActionTests {
    private func counted(_ labels: [String]) -> ClicksByAction {
        var clicks = ClicksByAction()
        for label in labels {
            Array(label.utf8).withUnsafeBytes { clicks.count($0) }
        }
        return clicks
    }

    @Test("as many labels as there may be have a count each, and one more is among the others")
    func limit() {
        let labels = (1...ClicksByAction.maxActions).map { "action \($0)" }
        let full = self.counted(labels + labels)
        #expect(full.named.map(\.name) == labels)
        #expect(full.named.map(\.clicks) == labels.map { _ in 2 } && full.others == 0)
        let further = self.counted(labels + ["one more", labels[0], "and one"])
        #expect(further.named.map(\.name) == labels && further.named[0].clicks == 2)
        #expect(further.others == 2)
    }

    @Test("a long label is cut between two characters, and counts on under what is left")
    func long() {
        let most = String(repeating: "a", count: ClicksByAction.maxNameBytes)
        #expect(self.counted([most]).named.map(\.name) == [most])
        #expect(self.counted([most + "b", most + "c"]).named.map(\.clicks) == [2])
        let umlauts = "a" + String(repeating: "ä", count: ClicksByAction.maxNameBytes)
        let name = self.counted([umlauts]).named.first?.name
        #expect(
            name == "a" + String(repeating: "ä", count: ClicksByAction.maxNameBytes / 2 - 1))
    }
}
