/// The app and delivery that mark the events of `sightline bench`, so that no report counts them as
/// people's.
package enum BenchMark {
    /// The benchmark's app id. Reports leave it out.
    package static let appID = "sightline.bench"
    /// The benchmark's delivery id.
    package static let deliveryID = "be9c40"
}
