module sui::event;

public native fun num_events(): u32;
public native fun events_by_type<T: copy + drop>(): vector<T>;
