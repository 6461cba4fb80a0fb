/// A rule of clients that a history broke.
struct BrokenRule: Error, Equatable {
    let rule: String

    static func require(_ isTrue: Bool, _ rule: String) throws {
        if !isTrue { throw BrokenRule(rule: rule) }
    }
}
