internal import Synchronization

extension Journal {
    /// Calls `body` with the ledger, between two commits, which wait for it: it has to be quick.
    package func withLedger<Value: Sendable>(
        _ body: @escaping @Sendable (Ledger) -> Value
    ) async -> Value {
        await self.onQueue { body(self.writer.ledger) }
    }

    /// The ledger as it is now. The next commit copies its table, so ask seldom.
    package func ledger() async -> Ledger { await self.onQueue { self.writer.ledger } }

    /// The number of rows in the ledger.
    package var ledgerRowCount: Int { self.writer.ledgerRows.load(ordering: .relaxed) }
}
