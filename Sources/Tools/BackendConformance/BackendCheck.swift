package import ConfigurationKeys
internal import Foundation
package import GRPCSink

/// Tries what a backend of the grpc sink has to do, with hits of journals that are made up, and
/// says in sentences what it does wrong.
package struct BackendCheck: Sendable {
    let backend: Backend

    /// Creates a check; connects to nothing.
    ///
    /// - Throws: `ConfigurationError` if the target, or a file, cannot be used.
    package init(_ configuration: GRPCConfiguration) throws(ConfigurationError) {
        self.backend = try Backend(configuration)
    }

    /// The outcome of one try.
    package struct Outcome: Sendable, Equatable {
        /// What was tried.
        package let name: String
        /// What the backend did wrong; nil for nothing.
        package let fault: String?
        /// What could not be seen.
        package let remark: String?
    }

    /// What a backend does wrong.
    struct Fault: Error {
        let sentence: String

        init(_ sentence: String) { self.sentence = sentence }
    }

    /// A try: what it is, and how it is done; returns what could not be seen.
    private typealias Trial = (name: String, body: @Sendable (BackendCheck) async throws -> String?)

    private static let trials: [Trial] = [
        ("it says Welcome to a journal that it does not know", { try await $0.unknownJournal() }),
        ("it acknowledges what it has", { try await $0.acks() }),
        ("it acknowledges at once what nothing follows", { try await $0.rhythm() }),
        ("it goes on after a break where it was", { try await $0.resumes() }),
        ("it has a position for each journal and sink", { try await $0.tellsApart() }),
        ("it knows how far it is when a stream breaks off", { try await $0.brokenOff() }),
        ("it takes hits on the newest stream alone", { try await $0.laterStream() }),
        ("it repeats refusals until they are settled", { try await $0.refusals() }),
        ("it takes a batch that comes again", { try await $0.duplicates() }),
        ("it forgets a recipient, also twice", { try await $0.erasure() }),
        ("it keeps up with many messages, and with none", { try await $0.slowness() }),
        ("it ends a stream that we end", { try await $0.ends() }),
    ]

    /// Tries everything, one after the other.
    ///
    /// - Parameter report: called with the outcome of each.
    /// - Returns: whether nothing was wrong.
    /// - Throws: `BackendAbsence` if there is no answer to the first Hello, or `report`'s error.
    package func run(_ report: (Outcome) throws -> Void) async throws -> Bool {
        do {
            try await self.open(self.journal()).close(inOrder: true)
        } catch let failure as BackendFailure where failure.isAbsence {
            throw BackendAbsence(reason: failure.whole)
        } catch {
            // What is wrong with its answer, the first trial says.
        }
        var isRight = true
        for trial in Self.trials {
            var fault: String?
            var remark: String?
            do {
                remark = try await trial.body(self)
            } catch let error as Fault {
                fault = error.sentence
            } catch let error as BackendLoss {
                fault = "It says that it has lost hits: \(error.quote)."
            } catch is BackendBusy {
                fault = "It asks to wait for longer than a delivery may take."
            } catch let failure as BackendFailure {
                fault = "The stream broke: \(failure.whole)."
            } catch {
                fault = "The stream broke: \(error)."
            }
            isRight = isRight && fault == nil
            try report(Outcome(name: trial.name, fault: fault, remark: remark))
        }
        return isRight
    }
}

/// No backend answered.
package struct BackendAbsence: Error, CustomStringConvertible {
    /// Why, as the connection told.
    package let reason: String

    /// What happened, in one line.
    package var description: String { "no backend answers: \(self.reason)" }
}
