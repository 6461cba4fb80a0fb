/// A value that consecutive rows of a partition share: the first row stores it, and the others
/// refer to that row.
enum SharedColumn<Value> {
    /// The value itself.
    case own(Value)
    /// A reference to an earlier row of the same partition: the distance in ids.
    case backReference(rows: Int64)
}
