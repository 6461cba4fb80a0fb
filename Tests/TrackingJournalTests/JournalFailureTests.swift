internal import Synchronization
internal import Testing
@testable internal import TrackingJournal

struct JournalFailureTests {
    @Test("the first failure of the disk is reported, and no later one")
    func first() {
        let reported = Mutex<[String]>([])
        let failure = JournalFailure { error in reported.withLock { $0.append("\(error)") } }
        #expect(!failure.hasHappened)
        for reason in ["first", "second"] {
            failure.note(.failed(reason: reason))
            #expect(failure.hasHappened)
        }
        #expect(reported.withLock { $0 } == ["\(JournalError.failed(reason: "first"))"])
    }
}
