/// What a client did wrong.
package struct Finding: Sendable, Equatable {
    /// The section of docs/clients.md that says what it should do.
    package let section: String
    /// What that section says.
    package let contract: String
    /// What the client did.
    package let fault: String

    /// All of it in a line.
    package var sentence: String {
        "\(self.fault). docs/clients.md, \(self.section): \(self.contract)."
    }
}
