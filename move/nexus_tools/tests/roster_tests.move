#[test_only]
module nexus_tools::roster_tests;

use nexus_tools::roster;
use std::unit_test::assert_eq;

#[test]
fun entries_are_kept_in_their_order() {
    let mut roster = roster::of(vector[3, 1]);
    roster.add(2);
    assert_eq!(*roster.entries(), vector[3, 1, 2]);
    roster.remove(&1);
    assert_eq!(*roster.entries(), vector[3, 2]);
    assert!(roster.contains(&3));
    assert!(!roster.contains(&1));
}

#[test]
fun roster_is_empty_without_entries() {
    let mut roster = roster::of<u64>(vector[]);
    assert!(roster.is_empty());
    roster.add(1);
    assert!(!roster.is_empty());
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun entry_is_listed_once() {
    roster::of(vector[1]).add(1);
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun roster_is_not_made_of_equal_entries() {
    roster::of(vector[1, 2, 1]);
}

#[test]
fun there_can_be_16_entries() {
    let mut roster = roster::of(vector::tabulate!(16, |i| i));
    assert_eq!(roster.entries().length(), 16);
    roster.remove(&15);
    roster.add(16);
}

#[test, expected_failure(abort_code = roster::ERosterFull)]
fun there_cannot_be_17_entries() {
    roster::of(vector::tabulate!(17, |i| i));
}

#[test, expected_failure(abort_code = roster::ENotListed)]
fun entry_is_removed_once() {
    let mut roster = roster::of(vector[1, 2]);
    roster.remove(&2);
    roster.remove(&2);
}
