/// Hits that are kept somewhere, for a replay: those of one group of the journal, or of several
/// rows of a database.
package struct HitPage: Sendable {
    /// In the journal's form.
    package let payload: [UInt8]
    /// Where the next page begins.
    package let last: Int64
    /// Stored hits whose events no sink can be given, because they are none.
    package let unreadable: Int

    /// Creates a page.
    package init(payload: [UInt8], last: Int64, unreadable: Int = 0) {
        self.payload = payload
        self.last = last
        self.unreadable = unreadable
    }
}
